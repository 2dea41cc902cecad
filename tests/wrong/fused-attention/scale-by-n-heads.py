import math

import torch

BQ, BK = 64, 48


def fused_attention(q, k, v, causal):
    B, H, T, D = q.shape
    H_kv, S = k.shape[1], k.shape[2]
    group = H // H_kv
    acc_type = torch.promote_types(q.dtype, torch.float32)
    out = torch.empty_like(q)
    scale = 1 / math.sqrt(H)
    for b in range(B):
        for h in range(H):
            kh, vh = k[b, h // group], v[b, h // group]
            for i in range(0, T, BQ):
                qi = q[b, h, i : i + BQ].to(acc_type) * scale
                n = qi.shape[0]
                m = torch.full((n, 1), -math.inf, dtype=acc_type, device=q.device)
                l = torch.zeros_like(m)
                o = torch.zeros_like(qi)
                last = S if not causal else min(S, S - T + i + n)
                for j in range(0, last, BK):
                    kj = kh[j : min(j + BK, last)].to(acc_type)
                    s = qi @ kj.T
                    if causal and j + len(kj) - 1 > S - T + i:
                        rows = torch.arange(i, i + n, device=q.device) + S - T
                        cols = torch.arange(j, j + len(kj), device=q.device)
                        s.masked_fill_(cols > rows[:, None], -math.inf)
                    m_new = torch.maximum(m, s.amax(1, keepdim=True))
                    p = torch.exp(s - m_new)
                    alpha = torch.exp(m - m_new)
                    l = l * alpha + p.sum(1, keepdim=True)
                    o = o * alpha + p @ vh[j : min(j + BK, last)].to(acc_type)
                    m = m_new
                out[b, h, i : i + n] = o / l
    return out
