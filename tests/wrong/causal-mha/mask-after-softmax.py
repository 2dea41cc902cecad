import torch


def causal_mha(x, w_q, w_k, w_v, w_o, n_heads):
    B, T, d = x.shape
    hd = d // n_heads
    q = (x @ w_q.T).view(B, T, n_heads, hd).transpose(1, 2)
    k = (x @ w_k.T).view(B, T, n_heads, hd).transpose(1, 2)
    v = (x @ w_v.T).view(B, T, n_heads, hd).transpose(1, 2)
    att = torch.softmax(q @ k.mT / hd**0.5, dim=-1)
    att = torch.tril(att)
    return (att @ v).transpose(1, 2).contiguous().view(B, T, d) @ w_o.T
