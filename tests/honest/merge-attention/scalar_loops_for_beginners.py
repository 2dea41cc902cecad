import math

import torch


def merge_attention(o_a, lse_a, o_b, lse_b):
    B, H, T, D = o_a.shape
    o = torch.zeros(B, H, T, D, dtype=o_a.dtype)
    lse = torch.zeros(B, H, T, dtype=lse_a.dtype)
    for b in range(B):
        for h in range(H):
            for t in range(T):
                la = lse_a[b, h, t].item()
                lb = lse_b[b, h, t].item()
                if la == -math.inf:
                    # part a saw nothing so the answer is part b
                    o[b, h, t] = o_b[b, h, t]
                    lse[b, h, t] = lb
                elif lb == -math.inf:
                    o[b, h, t] = o_a[b, h, t]
                    lse[b, h, t] = la
                else:
                    biggest = max(la, lb)
                    ea = math.exp(la - biggest)
                    eb = math.exp(lb - biggest)
                    for d in range(D):
                        top = ea * o_a[b, h, t, d].item() + eb * o_b[b, h, t, d].item()
                        o[b, h, t, d] = top / (ea + eb)
                    lse[b, h, t] = biggest + math.log(ea + eb)
    return o, lse
