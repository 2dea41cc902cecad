import math

import torch


def split(x, n_heads):
    B, T, d = x.shape
    return x.view(B, T, n_heads, d // n_heads).transpose(1, 2)


def causal_mha(x, w_q, w_k, w_v, w_o, n_heads):
    wide = x.double()
    q = split(wide @ w_q.double().T, n_heads)
    k = split(wide @ w_k.double().T, n_heads)
    v = split(wide @ w_v.double(), n_heads)
    T = x.shape[1]
    scores = q @ k.mT / math.sqrt(q.shape[-1])  # (B, H, T, T)
    future = torch.ones(T, T, dtype=torch.bool).triu(1)
    weights = torch.softmax(scores.masked_fill(future, -torch.inf), dim=-1)
    out = (weights @ v).transpose(1, 2).reshape(x.shape)
    return (out @ w_o.double().T).to(x.dtype)
