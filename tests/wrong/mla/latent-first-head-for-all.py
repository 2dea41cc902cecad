import math

import torch


def latent_attention(x, w_q, w_dkv, w_uk, w_uv, w_o, n_heads):
    T = x.shape[1]
    D = w_uk.shape[0] // n_heads
    Dv = w_uv.shape[0] // n_heads
    c = x @ w_dkv.T
    allowed = torch.tril(torch.ones(T, T, device=x.device)) == 1
    outs = []
    for h in range(n_heads):
        q_h = x @ w_q[h * D : (h + 1) * D].T
        k_h = c @ w_uk[:D].T
        v_h = c @ w_uv[:Dv].T
        s = torch.bmm(q_h, k_h.transpose(1, 2)) / math.sqrt(D)
        s = s.masked_fill(~allowed, float("-inf"))
        p = torch.softmax(s, dim=-1)
        outs.append(torch.bmm(p, v_h))
    return torch.cat(outs, dim=-1) @ w_o.T, c
