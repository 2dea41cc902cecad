import torch


def gqa(x, w_q, w_k, w_v, w_o, n_heads, n_kv_heads):
    B, T, _ = x.shape
    D = w_q.shape[0] // n_heads
    G, R = n_kv_heads, n_heads // n_kv_heads
    q = (x @ w_q.T).view(B, T, G, R, D)
    k, v = (x @ w_k.T).view(B, T, G, D), (x @ w_v.T).view(B, T, G, D)
    causal = torch.tril(torch.ones(T, T, dtype=torch.bool, device=x.device))
    s = torch.einsum("bigrd,bjgd->bgrij", q, k) * D**-0.5
    s = s.masked_fill(causal, -torch.inf)
    y = torch.einsum("bgrij,bjgd->bigrd", torch.softmax(s, -1), v)
    return y.flatten(2) @ w_o.T
