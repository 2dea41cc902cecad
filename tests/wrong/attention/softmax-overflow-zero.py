import math

import torch


def attention(q, k, v, mask=None):
    s = q.float() @ k.float().transpose(-1, -2) / math.sqrt(q.shape[-1])
    e = torch.exp(s)
    if mask is not None:
        e = e.masked_fill(~mask, 0.0)
    total = e.sum(dim=-1, keepdim=True)
    total = torch.where(total == 0, torch.ones_like(total), total)
    return (e / total @ v.float()).to(q.dtype)
