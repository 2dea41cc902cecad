import math

import torch


def causal_mha(x, w_q, w_k, w_v, w_o, n_heads):
    B, T, d = x.shape
    D = d // n_heads

    def heads(w):
        return (x @ w.T).view(B, T, n_heads, D).transpose(1, 2)

    q, k, v = heads(w_q), heads(w_k), heads(w_v)
    scores = q @ k.transpose(-2, -1) / math.sqrt(D)
    future = torch.ones(T, T, dtype=torch.bool).triu(1)
    weights = torch.softmax(scores.masked_fill(future, float("-inf")), dim=-1)
    return (weights @ v).transpose(1, 2).reshape(B, T, d) @ w_o.T
