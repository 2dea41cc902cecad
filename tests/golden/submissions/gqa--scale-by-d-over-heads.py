import math

import torch


def gqa(x, w_q, w_k, w_v, w_o, n_heads, n_kv_heads):
    B, T, d = x.shape
    q = (x @ w_q.T).view(B, T, n_heads, -1).transpose(1, 2)
    k = (x @ w_k.T).view(B, T, n_kv_heads, -1).transpose(1, 2)
    v = (x @ w_v.T).view(B, T, n_kv_heads, -1).transpose(1, 2)
    k = k.repeat_interleave(n_heads // n_kv_heads, dim=1)
    v = v.repeat_interleave(n_heads // n_kv_heads, dim=1)
    scores = q @ k.transpose(-1, -2) / math.sqrt(d / n_heads)
    scores = scores.masked_fill(torch.ones(T, T, device=x.device).triu(1).bool(), -math.inf)
    out = torch.softmax(scores, dim=-1) @ v
    return out.transpose(1, 2).reshape(B, T, -1) @ w_o.T
