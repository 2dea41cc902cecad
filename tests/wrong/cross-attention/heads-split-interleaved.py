import torch
from torch.nn.functional import linear


def cross_attention(x, context, w_q, w_k, w_v, w_o, n_heads, context_lengths=None):
    q, k, v = linear(x, w_q), linear(context, w_k), linear(context, w_v)
    hidden = None
    if context_lengths is not None:
        hidden = torch.arange(context.shape[1]) >= context_lengths.view(-1, 1, 1)
    results = []
    for h in range(n_heads):
        qh, kh, vh = q[..., h::n_heads], k[..., h::n_heads], v[..., h::n_heads]
        s = torch.bmm(qh, kh.transpose(1, 2)) / qh.shape[-1] ** 0.5
        if hidden is not None:
            s = s.masked_fill(hidden, float("-inf"))
        results.append(torch.bmm(s.softmax(dim=2), vh))
    return linear(torch.cat(results, dim=-1), w_o)
