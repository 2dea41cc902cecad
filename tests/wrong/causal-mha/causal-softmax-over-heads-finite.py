import torch


def causal_mha(x, w_q, w_k, w_v, w_o, n_heads):
    B, T, d = x.shape
    D = d // n_heads
    q, k, v = ((x @ w.T).view(B, T, n_heads, D) for w in (w_q, w_k, w_v))
    scores = torch.einsum("bihd,bjhd->bhij", q, k).mul(1 / D**0.5)
    scores = scores.masked_fill(torch.ones(T, T, device=x.device).triu(1) > 0, -1e9)
    weights = scores.softmax(-3)
    return torch.einsum("bhij,bjhd->bihd", weights, v).reshape(B, T, d).matmul(w_o.T)
