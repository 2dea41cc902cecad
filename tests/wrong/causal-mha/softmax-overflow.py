import torch


def causal_mha(x, w_q, w_k, w_v, w_o, n_heads):
    B, T, d = x.shape
    D = d // n_heads
    q, k, v = [(x @ w.T).view(B, T, n_heads, D).transpose(1, 2) for w in (w_q, w_k, w_v)]
    scores = q @ k.transpose(2, 3) / D**0.5
    e = scores.float().exp().tril()
    weights = (e / e.sum(dim=-1, keepdim=True)).to(x.dtype)
    return (weights @ v).transpose(1, 2).reshape(B, T, d) @ w_o.T
