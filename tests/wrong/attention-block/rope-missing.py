import math

import torch


def attention_block(x, w_q, w_k, w_v, w_o, n_heads, n_kv_heads, positions, base=10000.0):
    B, T, _ = x.shape
    D = w_q.shape[0] // n_heads
    wide = x.double()
    q = (wide @ w_q.double().T).view(B, T, n_heads, D).transpose(1, 2)
    k = (wide @ w_k.double().T).view(B, T, n_kv_heads, D).transpose(1, 2)
    v = (wide @ w_v.double().T).view(B, T, n_kv_heads, D).transpose(1, 2)
    k = k.repeat_interleave(n_heads // n_kv_heads, dim=1)
    v = v.repeat_interleave(n_heads // n_kv_heads, dim=1)
    scores = q @ k.mT / math.sqrt(D)  # (B, H, T, T)
    future = torch.ones(T, T, dtype=torch.bool).triu(1)
    weights = scores.masked_fill(future, -torch.inf).softmax(dim=-1)
    out = (weights @ v).transpose(1, 2).reshape(B, T, n_heads * D)
    return (out @ w_o.double().T).to(x.dtype)
