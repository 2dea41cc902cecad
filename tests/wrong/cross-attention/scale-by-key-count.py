import torch


def padding_bias(lengths, size, dtype):
    positions = torch.arange(size, device=lengths.device)
    bias = torch.zeros(len(lengths), size, dtype=dtype, device=lengths.device)
    return bias.masked_fill(positions >= lengths[:, None], -torch.inf)


def cross_attention(x, context, w_q, w_k, w_v, w_o, n_heads, context_lengths=None):
    B, T, d = x.shape
    S = context.shape[1]
    D = d // n_heads
    q = (x @ w_q.T).reshape(B, T, n_heads, D).transpose(1, 2)
    k = (context @ w_k.T).reshape(B, S, n_heads, D).transpose(1, 2)
    v = (context @ w_v.T).reshape(B, S, n_heads, D).transpose(1, 2)
    scores = q @ k.transpose(-1, -2) * k.shape[-2] ** -0.5
    if context_lengths is not None:
        scores = scores + padding_bias(context_lengths, S, scores.dtype)[:, None, None, :]
    out = scores.softmax(dim=-1) @ v
    return out.transpose(1, 2).flatten(2) @ w_o.T
