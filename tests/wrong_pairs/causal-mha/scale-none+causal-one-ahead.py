import math

import torch


def heads_of(x, w, n_heads):
    return (x @ w.T).unflatten(-1, (n_heads, -1)).transpose(1, 2)


def causal_mha(x, w_q, w_k, w_v, w_o, n_heads):
    B, T, d = x.shape
    q = heads_of(x, w_q, n_heads)
    k = heads_of(x, w_k, n_heads)
    v = heads_of(x, w_v, n_heads)
    att = torch.einsum("bhid,bhjd->bhij", q, k)
    hidden = torch.ones(T, T, dtype=torch.bool, device=x.device).triu(2)
    p = att.masked_fill(hidden, -math.inf).softmax(dim=-1)
    y = torch.einsum("bhij,bhjd->bihd", p, v).flatten(2)
    return y @ w_o.T
