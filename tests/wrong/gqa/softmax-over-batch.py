import torch


def gqa(x, w_q, w_k, w_v, w_o, n_heads, n_kv_heads):
    B, T, _ = x.shape
    D = w_q.shape[0] // n_heads
    q = (x @ w_q.T).reshape(B, T, n_heads, D)
    k = (x @ w_k.T).reshape(B, T, n_kv_heads, D).repeat_interleave(n_heads // n_kv_heads, dim=2)
    v = (x @ w_v.T).reshape(B, T, n_kv_heads, D).repeat_interleave(n_heads // n_kv_heads, dim=2)
    s = torch.einsum("bthd,bshd->bhts", q, k) / D**0.5
    keep = torch.tril(torch.ones(T, T, dtype=torch.bool))
    w = torch.softmax(s.masked_fill(~keep, -torch.inf), dim=0)
    w = torch.where(keep, w, torch.zeros_like(w))
    return torch.einsum("bhts,bshd->bthd", w, v).reshape(B, T, -1) @ w_o.T
