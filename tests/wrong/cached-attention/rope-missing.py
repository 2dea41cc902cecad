import math

import torch


def cached_attention(x, w_q, w_k, w_v, w_o, n_heads, n_kv_heads, k_cache, v_cache, base=10000.0):
    B, T, _ = x.shape
    S = k_cache.shape[2]
    D = w_q.shape[0] // n_heads
    wide = x.double()
    q = (wide @ w_q.double().T).view(B, T, n_heads, D).transpose(1, 2)
    k = (wide @ w_k.double().T).view(B, T, n_kv_heads, D).transpose(1, 2)
    v = (wide @ w_v.double().T).view(B, T, n_kv_heads, D).transpose(1, 2)
    keys = torch.cat([k_cache.double(), k], dim=2)  # (B, H_kv, S + T, D)
    values = torch.cat([v_cache.double(), v], dim=2)
    k = keys.repeat_interleave(n_heads // n_kv_heads, dim=1)
    v = values.repeat_interleave(n_heads // n_kv_heads, dim=1)
    scores = q @ k.mT / math.sqrt(D)  # (B, H, T, S + T)
    future = torch.ones(T, S + T, dtype=torch.bool).triu(S + 1)
    weights = scores.masked_fill(future, -torch.inf).softmax(dim=-1)
    out = (weights @ v).transpose(1, 2).reshape(B, T, n_heads * D)
    return (out @ w_o.double().T).to(x.dtype), keys.to(x.dtype), values.to(x.dtype)
