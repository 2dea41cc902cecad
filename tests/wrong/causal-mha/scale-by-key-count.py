import torch


def causal_mha(x, w_q, w_k, w_v, w_o, n_heads):
    B, T, d = x.shape
    D = d // n_heads
    q = (x @ w_q.T).reshape(B, T, n_heads, D).transpose(1, 2).reshape(-1, T, D)
    k = (x @ w_k.T).reshape(B, T, n_heads, D).transpose(1, 2).reshape(-1, T, D)
    v = (x @ w_v.T).reshape(B, T, n_heads, D).transpose(1, 2).reshape(-1, T, D)
    n_keys = k.shape[1]
    bias = torch.zeros(T, T, dtype=x.dtype, device=x.device)
    bias = bias.masked_fill(torch.ones_like(bias).triu(1).bool(), torch.finfo(x.dtype).min)
    s = torch.baddbmm(bias.expand(B * n_heads, T, T), q, k.mT, alpha=n_keys**-0.5)
    y = torch.bmm(s.softmax(-1), v).view(B, n_heads, T, D)
    return y.transpose(1, 2).reshape(B, T, d) @ w_o.T
