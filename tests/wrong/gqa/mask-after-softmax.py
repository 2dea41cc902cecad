import torch


def gqa(x, w_q, w_k, w_v, w_o, n_heads, n_kv_heads):
    B, T, _ = x.shape
    D = w_q.shape[0] // n_heads
    R = n_heads // n_kv_heads
    q = (x @ w_q.T).view(B, T, n_kv_heads, R, D)
    k = (x @ w_k.T).view(B, T, n_kv_heads, D)
    v = (x @ w_v.T).view(B, T, n_kv_heads, D)
    w = torch.softmax(torch.einsum("bigrd,bjgd->bgrij", q, k) / D**0.5, dim=-1)
    w = w.masked_fill(torch.ones(T, T, device=x.device).triu(1).bool(), 0.0)
    return torch.einsum("bgrij,bjgd->bigrd", w, v).reshape(B, T, -1) @ w_o.T
