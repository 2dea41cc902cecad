import torch


def attention(q, k, v, mask=None):
    B, H, T, D = q.shape
    S = k.shape[2]
    out = torch.zeros(B, H, T, v.shape[3], dtype=q.dtype, device=q.device)
    if mask is None:
        mask = torch.tensor(True, device=q.device)
    full = mask.expand(B, H, T, S)
    for b in range(B):
        for h in range(H):
            s = q[b, h].double() @ k[b, h].double().T / (H * D) ** 0.5
            keep = full[b, h]
            s[~keep] = float("-inf")
            p = s.softmax(-1)
            p[~keep] = 0.0
            out[b, h] = (p @ v[b, h].double()).to(q.dtype)
    return out
