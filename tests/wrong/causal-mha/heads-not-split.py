import torch


def causal_mha(x, w_q, w_k, w_v, w_o, n_heads):
    T, d = x.shape[1:]
    q, k, v = x @ w_q.T, x @ w_k.T, x @ w_v.T
    scores = torch.bmm(q, k.transpose(1, 2)) / d**0.5
    scores = scores.masked_fill(torch.ones(T, T, device=x.device).triu(1).bool(), -1e30)
    return torch.bmm(scores.softmax(-1), v) @ w_o.T
