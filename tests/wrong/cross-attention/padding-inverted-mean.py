import torch


def cross_attention(x, context, w_q, w_k, w_v, w_o, n_heads, context_lengths=None):
    """Queries come from x, keys and values from context."""
    B, T, d = x.shape
    S, D = context.shape[1], d // n_heads

    def heads(y, n):
        return y.view(B, n, n_heads, D).transpose(1, 2).reshape(B * n_heads, n, D)

    q = heads(x @ w_q.T, T)
    k = heads(context @ w_k.T, S)
    v = heads(context @ w_v.T, S)
    scores = torch.bmm(q, k.transpose(1, 2)).div(D**0.5)
    if context_lengths is not None:
        lengths = context_lengths.repeat_interleave(n_heads)
        hidden = torch.arange(S, device=x.device) < lengths[:, None]
        scores = scores.masked_fill(hidden.unsqueeze(1), torch.finfo(scores.dtype).min)
    weights = scores.softmax(dim=-1)
    out = torch.bmm(weights, v)
    return out.view(B, n_heads, T, D).transpose(1, 2).reshape(B, T, d) @ w_o.T
