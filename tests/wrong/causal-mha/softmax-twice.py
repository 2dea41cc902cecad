import torch


def attention_weights(q, k):
    T = q.shape[-2]
    s = q @ k.transpose(-1, -2) / q.shape[-1] ** 0.5
    s = s.masked_fill(~torch.ones(T, T, dtype=torch.bool, device=q.device).tril(), -torch.inf)
    return torch.softmax(s, dim=-1)


def causal_mha(x, w_q, w_k, w_v, w_o, n_heads):
    B, T, d = x.shape
    split = lambda y: y.view(B, T, n_heads, -1).transpose(1, 2)
    weights = attention_weights(split(x @ w_q.T), split(x @ w_k.T))
    out = torch.softmax(weights, dim=-1) @ split(x @ w_v.T)
    return out.transpose(1, 2).reshape(B, T, d) @ w_o.T
