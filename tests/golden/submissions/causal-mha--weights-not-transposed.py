import torch


def causal_mha(x, w_q, w_k, w_v, w_o, n_heads):
    B, T, d = x.shape
    D = d // n_heads
    q = (x @ w_q).view(B, T, n_heads, D).transpose(1, 2)
    k = (x @ w_k).view(B, T, n_heads, D).transpose(1, 2)
    v = (x @ w_v).view(B, T, n_heads, D).transpose(1, 2)
    s = q @ k.mT / D**0.5
    s = torch.where(torch.ones(T, T, dtype=torch.bool, device=x.device).tril(), s, -torch.inf)
    return (s.softmax(-1) @ v).transpose(1, 2).reshape(B, T, d) @ w_o
