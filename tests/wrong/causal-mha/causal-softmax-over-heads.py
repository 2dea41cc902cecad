import torch


def causal_mha(x, w_q, w_k, w_v, w_o, n_heads):
    B, T, d = x.shape
    D = d // n_heads
    q, k, v = ((x @ w.T).view(B, T, n_heads, D).transpose(1, 2) for w in (w_q, w_k, w_v))
    scores = torch.einsum("bhid,bhjd->bhij", q, k) / D**0.5
    scores = scores + torch.full((T, T), float("-inf"), dtype=x.dtype, device=x.device).triu(1)
    weights = torch.softmax(scores, dim=1)
    return torch.einsum("bhij,bhjd->bihd", weights, v).flatten(2) @ w_o.T
