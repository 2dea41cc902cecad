import torch


def causal_mha(x, w_q, w_k, w_v, w_o, n_heads):
    B, T, d = x.shape
    split = lambda y: y.reshape(B, T, n_heads, d // n_heads).transpose(1, 2)
    q, k, v = split(x @ w_q.T), split(x @ w_k.T), split(x)
    att = q @ k.transpose(-2, -1) / (d // n_heads) ** 0.5
    att = att.masked_fill(torch.ones(T, T, device=x.device).tril() < 1, float("-inf"))
    return (torch.softmax(att, -1) @ v).transpose(1, 2).reshape(B, T, d) @ w_o.T
