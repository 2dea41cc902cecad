import torch


def cross_attention(x, context, w_q, w_k, w_v, w_o, n_heads, context_lengths=None):
    B, T, d = x.shape
    S = context.shape[1]
    q = (x @ w_q.T).view(B, T, n_heads, -1).transpose(1, 2)
    k = (context @ w_k.T).view(B, S, n_heads, -1).transpose(1, 2)
    v = (context @ w_v.T).view(B, S, n_heads, -1).transpose(1, 2)
    s = q @ k.mT / (d // n_heads) ** 0.5
    if context_lengths is not None:
        pad = torch.arange(S) >= context_lengths[:, None]
        s = s.masked_fill(pad[:, None, None], float("-inf"))
    w = torch.nan_to_num(torch.softmax(s, dim=0))
    return (w @ v).transpose(1, 2).reshape(B, T, d) @ w_o.T
