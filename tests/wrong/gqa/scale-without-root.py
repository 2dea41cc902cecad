import torch


def gqa(x, w_q, w_k, w_v, w_o, n_heads, n_kv_heads):
    B, T, _ = x.shape
    D = w_q.shape[0] // n_heads
    rep = n_heads // n_kv_heads
    q = (x @ w_q.T).view(B, T, n_heads, D).transpose(1, 2).reshape(B * n_heads, T, D)
    k = (x @ w_k.T).view(B, T, n_kv_heads, D).transpose(1, 2).repeat_interleave(rep, 1).flatten(0, 1)
    v = (x @ w_v.T).view(B, T, n_kv_heads, D).transpose(1, 2).repeat_interleave(rep, 1).flatten(0, 1)
    bias = torch.full((T, T), -torch.inf, dtype=x.dtype, device=x.device).triu(1)
    s = torch.baddbmm(bias.expand(B * n_heads, T, T), q, k.mT, alpha=1 / D)
    y = torch.bmm(torch.softmax(s, -1), v).view(B, n_heads, T, D)
    return y.transpose(1, 2).reshape(B, T, -1) @ w_o.T
