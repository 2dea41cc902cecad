import torch


def attention(q, k, v, mask=None):
    D = q.shape[-1]
    out = torch.empty(*q.shape[:3], v.shape[-1], dtype=q.dtype, device=q.device)
    for b in range(q.shape[0]):
        for h in range(q.shape[1]):
            w = torch.softmax(q[b, h] @ k[b, h].T / D**0.5, dim=1)
            out[b, h] = w @ v[b, h]
    return out
