import math

import torch


def cross_attention(x, context, w_q, w_k, w_v, w_o, n_heads, context_lengths=None):
    B, T, d = x.shape
    S = context.shape[1]
    D = d // n_heads
    q = (x.double() @ w_q.double().T).view(B, T, n_heads, D).transpose(1, 2)
    k = (context.double() @ w_k.double().T).view(B, S, n_heads, D).transpose(1, 2)
    v = (context.double() @ w_v.double().T).view(B, S, n_heads, D).transpose(1, 2)
    scores = q @ k.mT / math.sqrt(D)  # (B, H, T, S)
    if context_lengths is not None:
        n = (context_lengths[:, None] - 1).clamp(min=1)  # (B, 1)
        scores = scores.masked_fill((torch.arange(S) >= n)[:, None, None, :], -torch.inf)
    weights = torch.softmax(scores, dim=-1)
    out = (weights @ v).transpose(1, 2).reshape(B, T, d)
    return (out @ w_o.double().T).to(x.dtype)
