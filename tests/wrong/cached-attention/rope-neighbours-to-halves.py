import math

import torch


def rotate(x, positions, base):
    D = x.shape[-1]
    frequency = base ** (-torch.arange(0, D, 2, dtype=torch.float64) / D)
    angle = positions.double()[:, None] * frequency  # (T, D/2)
    cos, sin = angle.cos(), angle.sin()
    a, b = x[..., ::2], x[..., 1::2]
    return torch.cat([a * cos - b * sin, a * sin + b * cos], dim=-1)


def cached_attention(x, w_q, w_k, w_v, w_o, n_heads, n_kv_heads, k_cache, v_cache, base=10000.0):
    B, T, _ = x.shape
    S = k_cache.shape[2]
    D = w_q.shape[0] // n_heads
    wide = x.double()
    q = (wide @ w_q.double().T).view(B, T, n_heads, D).transpose(1, 2)
    k = (wide @ w_k.double().T).view(B, T, n_kv_heads, D).transpose(1, 2)
    v = (wide @ w_v.double().T).view(B, T, n_kv_heads, D).transpose(1, 2)
    positions = torch.arange(S, S + T)
    q, k = rotate(q, positions, base), rotate(k, positions, base)
    keys = torch.cat([k_cache.double(), k], dim=2)  # (B, H_kv, S + T, D)
    values = torch.cat([v_cache.double(), v], dim=2)
    k = keys.repeat_interleave(n_heads // n_kv_heads, dim=1)
    v = values.repeat_interleave(n_heads // n_kv_heads, dim=1)
    scores = q @ k.mT / math.sqrt(D)  # (B, H, T, S + T)
    future = torch.ones(T, S + T, dtype=torch.bool).triu(S + 1)
    weights = scores.masked_fill(future, -torch.inf).softmax(dim=-1)
    out = (weights @ v).transpose(1, 2).reshape(B, T, n_heads * D)
    return (out @ w_o.double().T).to(x.dtype), keys.to(x.dtype), values.to(x.dtype)
