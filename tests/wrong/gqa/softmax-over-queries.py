import torch


def gqa(x, w_q, w_k, w_v, w_o, n_heads, n_kv_heads):
    B, T, _ = x.shape
    D = w_q.shape[0] // n_heads
    rep = n_heads // n_kv_heads
    q = (x @ w_q.T).view(B, T, n_heads, D)
    k = (x @ w_k.T).view(B, T, n_kv_heads, D).repeat_interleave(rep, dim=2)
    v = (x @ w_v.T).view(B, T, n_kv_heads, D).repeat_interleave(rep, dim=2)
    s = torch.einsum("bjhd,bihd->bhji", k, q) / D**0.5
    s = s.masked_fill(torch.ones(T, T, device=x.device).tril(-1).bool(), -torch.inf)
    w = s.softmax(-1)
    return torch.einsum("bhji,bjhd->bihd", w, v).reshape(B, T, -1) @ w_o.T
