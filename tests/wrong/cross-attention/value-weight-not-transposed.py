import math

import torch


def cross_attention(x, context, w_q, w_k, w_v, w_o, n_heads, context_lengths=None):
    def heads(y):
        return y.unflatten(-1, (n_heads, -1)).movedim(-2, 1)

    q = heads(torch.einsum("btc,oc->bto", x, w_q))
    k = heads(torch.einsum("btc,oc->bto", context, w_k))
    v = heads(torch.einsum("btc,co->bto", context, w_v))
    logits = torch.einsum("bhtd,bhsd->bhts", q, k) / math.sqrt(q.shape[-1])
    if context_lengths is not None:
        real = torch.arange(context.shape[1])[None] < context_lengths[:, None]
        logits = logits.masked_fill(~real[:, None, None, :], -math.inf)
    mixed = torch.einsum("bhts,bhsd->bthd", logits.softmax(-1), v).flatten(2)
    return torch.einsum("btc,oc->bto", mixed, w_o)
