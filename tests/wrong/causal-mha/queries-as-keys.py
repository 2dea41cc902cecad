import torch


def causal_mha(x, w_q, w_k, w_v, w_o, n_heads):
    B, T, d = x.shape
    D = d // n_heads
    q, k, v = ((x @ w.T).view(B, T, n_heads, D).transpose(1, 2) for w in (w_q, w_k, w_v))
    scores = torch.einsum("bhid,bhjd->bhij", q, q) / D**0.5
    scores = scores.masked_fill(torch.ones(T, T, device=x.device).triu(1).bool(), -torch.inf)
    return (scores.softmax(-1) @ v).transpose(1, 2).reshape(B, T, d) @ w_o.T
