import math

import torch


def cross_attention(x, context, w_q, w_k, w_v, w_o, n_heads, context_lengths=None):
    b, t, d = x.shape
    s = context.shape[1]
    hd = d // n_heads
    # no transposes at all: heads stay the third axis and einsum sorts it out
    q = torch.einsum("btd,ed->bte", x, w_q).reshape(b, t, n_heads, hd)
    k = torch.einsum("bsd,ed->bse", context, w_k).reshape(b, s, n_heads, hd)
    v = torch.einsum("bsd,ed->bse", context, w_v).reshape(b, s, n_heads, hd)
    scores = torch.einsum("bthx,bshx->bhts", q, k) / math.sqrt(hd)
    if context_lengths is not None:
        pad = torch.arange(s, device=x.device)[None, :] >= context_lengths[:, None]
        scores = scores.masked_fill(pad[:, None, None, :], float("-inf"))
    p = scores.softmax(dim=-1)
    y = torch.einsum("bhts,bshx->bthx", p, v).reshape(b, t, d)
    return torch.einsum("bte,de->btd", y, w_o)
