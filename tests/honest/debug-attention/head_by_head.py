import math

import torch


def one_head(q, k, v, mask):
    s = (q @ k.transpose(1, 2)) / math.sqrt(k.shape[-1])
    if mask is None:
        return s.softmax(2) @ v
    w = s.masked_fill(~mask, torch.finfo(s.dtype).min).softmax(2)
    return (w * mask) @ v


def attention(q, k, v, mask=None):
    B, H, T, _ = q.shape
    full = None if mask is None else torch.broadcast_to(mask, (B, H, T, k.shape[2]))
    heads = [
        one_head(q[:, h], k[:, h], v[:, h], None if full is None else full[:, h]) for h in range(H)
    ]
    return torch.stack(heads, 1)
