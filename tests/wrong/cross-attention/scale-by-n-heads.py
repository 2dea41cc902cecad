import numpy as np
import torch


def cross_attention(x, context, w_q, w_k, w_v, w_o, n_heads, context_lengths=None):
    out_dtype = x.dtype
    x, context = x.double(), context.double()
    w_q, w_k, w_v, w_o = w_q.double(), w_k.double(), w_v.double(), w_o.double()
    b, t, d = x.shape
    s = context.shape[1]
    q = (x @ w_q.T).reshape(b, t, n_heads, -1)
    k = (context @ w_k.T).reshape(b, s, n_heads, -1)
    v = (context @ w_v.T).reshape(b, s, n_heads, -1)
    scores = torch.einsum("bthd,bshd->bhts", q, k) / np.sqrt(n_heads)
    if context_lengths is not None:
        pad = torch.arange(s, device=x.device)[None] >= context_lengths[:, None]
        scores = scores.masked_fill(pad[:, None, None], -np.inf)
    weights = torch.softmax(scores, dim=-1)
    out = torch.einsum("bhts,bshd->bthd", weights, v).reshape(b, t, d)
    return (out @ w_o.T).to(out_dtype)
