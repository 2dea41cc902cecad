import torch


def causal_mha(x, w_q, w_k, w_v, w_o, n_heads):
    B, T, d = x.shape
    D = d // n_heads
    heads = lambda w: (x @ w.T).view(B, T, n_heads, D).transpose(1, 2)
    mask = torch.tril(torch.ones(T, T, dtype=x.dtype, device=x.device))
    scores = heads(w_q) @ heads(w_k).mT / D**0.5
    scores = scores + mask
    return (scores.softmax(-1) @ heads(w_v)).transpose(1, 2).flatten(2) @ w_o.T
