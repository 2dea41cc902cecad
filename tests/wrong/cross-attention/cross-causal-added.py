import math

import torch


def cross_attention(x, context, w_q, w_k, w_v, w_o, n_heads, context_lengths=None):
    b, t, d = x.shape
    s = context.size(1)
    head_dim = d // n_heads

    q = torch.matmul(x, w_q.t()).reshape(b, t, n_heads, head_dim).permute(0, 2, 1, 3)
    k = torch.matmul(context, w_k.t()).reshape(b, s, n_heads, head_dim).permute(0, 2, 1, 3)
    v = torch.matmul(context, w_v.t()).reshape(b, s, n_heads, head_dim).permute(0, 2, 1, 3)

    scores = torch.matmul(q, k.transpose(2, 3)) / math.sqrt(head_dim)
    if context_lengths is not None:
        positions = torch.arange(s, device=x.device).view(1, 1, 1, s)
        hidden = positions >= context_lengths.view(b, 1, 1, 1)
        scores = scores.masked_fill(hidden, torch.finfo(scores.dtype).min)

    causal = torch.ones(t, s, dtype=torch.bool, device=x.device).tril()
    scores = scores.masked_fill(~causal, torch.finfo(scores.dtype).min)

    attn = torch.softmax(scores, dim=-1)
    out = torch.matmul(attn, v)
    out = out.permute(0, 2, 1, 3).contiguous().view(b, t, d)
    return torch.matmul(out, w_o.t())
