import torch


def cross_attention(x, context, w_q, w_k, w_v, w_o, n_heads, context_lengths=None):
    B, T, d = x.shape
    S = context.shape[1]
    q = (x @ w_q.T).view(B, T, n_heads, -1).permute(0, 2, 1, 3)
    k = (context @ w_k.T).view(B, S, n_heads, -1).permute(0, 2, 3, 1)
    v = (context @ w_v.T).view(B, S, n_heads, -1).permute(0, 2, 1, 3)
    s = q @ k / q.shape[-1] ** 0.5
    if context_lengths is not None:
        ok = torch.arange(S)[None, :] < context_lengths[:, None]
        s = torch.where(ok[:, None, None, :], s, torch.full_like(s, float("-inf")))
    out = torch.softmax(s, dim=-1) @ v
    return out.permute(0, 2, 3, 1).reshape(B, T, d) @ w_o.T
