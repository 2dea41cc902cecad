import torch


def gqa(x, w_q, w_k, w_v, w_o, n_heads, n_kv_heads):
    B, T = x.shape[:2]
    D = w_q.shape[0] // n_heads
    q = torch.einsum("btd,hed->bhte", x, w_q.view(n_heads, D, -1))
    k = x @ w_k.view(n_kv_heads, D, -1)[0].T
    v = x @ w_v.view(n_kv_heads, D, -1)[0].T
    s = torch.einsum("bhie,bje->bhij", q, k) / D**0.5
    s = torch.where(torch.ones(T, T, dtype=torch.bool, device=x.device).tril(), s, -torch.inf)
    y = torch.einsum("bhij,bje->bihe", torch.softmax(s, -1), v)
    return y.flatten(2) @ w_o.T
