import math

import torch


def gqa(x, w_q, w_k, w_v, w_o, n_heads, n_kv_heads):
    """The G query heads of a group become G * T rows against one head of keys."""
    B, T, d = x.shape
    G = n_heads // n_kv_heads
    D = w_q.size(0) // n_heads
    out = []
    mask = torch.full((T, T), -math.inf).triu(1).repeat(G, 1)
    for g in range(n_kv_heads):
        q = (x @ w_q[g * G * D : (g + 1) * G * D].T).view(B, T, G, D)
        q = q.transpose(1, 2).reshape(B, G * T, D)
        k = x @ w_k.narrow(0, g * D, D).T
        v = x @ w_v.narrow(0, g * D, D).T
        s = torch.bmm(q, k.mT) / math.sqrt(D) + mask.to(x.dtype)
        y = torch.bmm(torch.softmax(s, 2), v)
        out.append(y.view(B, G, T, D).transpose(1, 2).reshape(B, T, G * D))
    return torch.cat(out, dim=-1) @ w_o.T
