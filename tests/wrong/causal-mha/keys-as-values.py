import torch


def causal_mha(x, w_q, w_k, w_v, w_o, n_heads):
    B, T, d = x.shape
    D = d // n_heads
    q, k, v = (F.view(B, T, n_heads, D).movedim(2, 1) for F in (x @ w_q.T, x @ w_k.T, x @ w_v.T))
    scores = (q @ k.mT) / D**0.5
    blocked = torch.ones_like(scores, dtype=torch.bool).triu(1)
    probs = scores.masked_fill(blocked, torch.finfo(scores.dtype).min).softmax(-1)
    return torch.matmul(probs, k).movedim(1, 2).reshape(B, T, d) @ w_o.T
