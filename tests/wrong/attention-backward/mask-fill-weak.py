import math

import torch


def attention_backward(q, k, v, d_out):
    dtype = q.dtype
    q, k, v, d_out = (t.double() for t in (q, k, v, d_out))
    T, D = q.shape[-2:]
    scale = 1 / math.sqrt(D)
    future = torch.ones(T, T, dtype=torch.bool).triu(1)
    scores = (q @ k.mT * scale).masked_fill(future, -1e3)  # (B, H, T, T)
    p = torch.softmax(scores, dim=-1)
    d_v = p.mT @ d_out
    d_p = d_out @ v.mT
    d_s = p * (d_p - (d_p * p).sum(-1, keepdim=True))
    d_q = d_s @ k * scale
    d_k = d_s.mT @ q * scale
    return d_q.to(dtype), d_k.to(dtype), d_v.to(dtype)
