import torch


def causal_mha(x, w_q, w_k, w_v, w_o, n_heads):
    B, T, d = x.shape
    D = d // n_heads
    q = (x @ w_q.T).view(B, n_heads, T, D)
    k = (x @ w_k.T).view(B, n_heads, T, D)
    v = (x @ w_v.T).view(B, n_heads, T, D)
    mask = torch.ones(T, T, dtype=torch.bool, device=x.device).tril()
    att = (q @ k.transpose(-2, -1) / D**0.5).masked_fill(~mask, float("-inf")).softmax(-1)
    return (att @ v).transpose(1, 2).reshape(B, T, d) @ w_o.T
