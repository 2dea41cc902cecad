import math

import torch


def rotate(x, positions, base):
    D = x.shape[-1]
    frequency = base ** (-torch.arange(0, D, 2, dtype=torch.float64) / D)
    angle = positions.bfloat16().double()[:, None] * frequency  # (T, D/2)
    cos, sin = angle.cos(), angle.sin()
    a, b = x[..., : D // 2], x[..., D // 2 :]
    return torch.cat([a * cos - b * sin, a * sin + b * cos], dim=-1)


def attention_block(x, w_q, w_k, w_v, w_o, n_heads, n_kv_heads, positions, base=10000.0):
    B, T, _ = x.shape
    D = w_q.shape[0] // n_heads
    wide = x.double()
    q = (wide @ w_q.double().T).view(B, T, n_heads, D).transpose(1, 2)
    k = (wide @ w_k.double().T).view(B, T, n_kv_heads, D).transpose(1, 2)
    v = (wide @ w_v.double().T).view(B, T, n_kv_heads, D).transpose(1, 2)
    q, k = rotate(q, positions, base), rotate(k, positions, base)
    k = k.repeat_interleave(n_heads // n_kv_heads, dim=1)
    v = v.repeat_interleave(n_heads // n_kv_heads, dim=1)
    scores = q @ k.mT / math.sqrt(D)  # (B, H, T, T)
    future = torch.ones(T, T, dtype=torch.bool).triu(1)
    weights = scores.masked_fill(future, -torch.inf).softmax(dim=-1)
    out = (weights @ v).transpose(1, 2).reshape(B, T, n_heads * D)
    return (out @ w_o.double().T).to(x.dtype)
