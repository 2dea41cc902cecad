import torch


def cross_attention(x, context, w_q, w_k, w_v, w_o, n_heads, context_lengths=None):
    B, T, d = x.shape
    S = context.shape[1]
    D = d // n_heads
    if context_lengths is not None:
        real = torch.arange(S, device=x.device) < context_lengths[:, None]
        context = context.masked_fill(~real.unsqueeze(-1), 0.0)
    q = (x @ w_q.T).reshape(B, T, n_heads, D).transpose(1, 2)
    k = (context @ w_k.T).reshape(B, S, n_heads, D).transpose(1, 2)
    v = (context @ w_v.T).reshape(B, S, n_heads, D).transpose(1, 2)
    scores = q @ k.transpose(-1, -2) * D**-0.5
    out = scores.softmax(dim=-1) @ v
    return out.transpose(1, 2).flatten(2) @ w_o.T
