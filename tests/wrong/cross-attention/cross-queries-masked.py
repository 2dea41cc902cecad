import torch


def cross_attention(x, context, w_q, w_k, w_v, w_o, n_heads, context_lengths=None):
    B, T, d = x.shape
    S = context.shape[1]
    D = d // n_heads
    q = (x @ w_q.T).view(B, T, n_heads, D).transpose(1, 2)
    k = (context @ w_k.T).view(B, S, n_heads, D).transpose(1, 2)
    v = (context @ w_v.T).view(B, S, n_heads, D).transpose(1, 2)
    scores = q @ k.transpose(-2, -1) / D**0.5
    if context_lengths is not None:
        keep = torch.arange(T, device=x.device)[None, :] < context_lengths[:, None]
        scores = scores.masked_fill(~keep[:, None, :, None], float("-inf"))
    weights = torch.softmax(scores, dim=-1)
    out = (weights @ v).transpose(1, 2).reshape(B, T, d)
    return out @ w_o.T
