import torch


def causal_mha(x, w_q, w_k, w_v, w_o, n_heads):
    B, T, d = x.shape
    D = d // n_heads
    q = (x @ w_q.T).view(B, T, n_heads, D)
    k = (x @ w_k.T).view(B, T, n_heads, D)
    v = (x @ w_v.T).view(B, T, n_heads, D)
    s = torch.einsum("bihd,bjhd->bhij", q, k) / D**0.5
    s = s.masked_fill(torch.ones(T, T, device=x.device).triu(1).bool(), float("-inf"))
    w = s.softmax(dim=2)
    return torch.einsum("bhij,bjhd->bihd", w, v).reshape(B, T, d) @ w_o.T
