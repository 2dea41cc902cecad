import math

import torch


def causal_mha(x, w_q, w_k, w_v, w_o, n_heads):
    batch, length, width = x.shape
    d_k = width // n_heads
    q = (x @ w_q.T).view(batch, length, n_heads, d_k).transpose(1, 2)
    k = (x @ w_k.T).view(batch, length, n_heads, d_k).transpose(1, 2)
    v = (x @ w_v.T).view(batch, length, n_heads, d_k).transpose(1, 2)
    weights = torch.softmax(q @ k.transpose(-2, -1) / math.sqrt(d_k), dim=-1)
    context = (weights @ v).transpose(1, 2).reshape(batch, length, width)
    return context @ w_o.T
