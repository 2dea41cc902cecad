import torch


def gqa(x, w_q, w_k, w_v, w_o, n_heads, n_kv_heads):
    B, T, _ = x.shape
    D = w_q.shape[0] // n_heads
    rep = n_heads // n_kv_heads
    q = (x @ w_q.T).view(B, T, n_heads, D).transpose(1, 2)
    k = (x @ w_k.T).view(B, T, n_kv_heads, D).transpose(1, 2).repeat_interleave(rep, dim=1)
    v = (x @ w_v.T).view(B, T, n_kv_heads, D).transpose(1, 2).repeat_interleave(rep, dim=1)
    scores = torch.tril(q @ k.transpose(2, 3) / D**0.5)
    return (scores.softmax(-1) @ v).transpose(1, 2).reshape(B, T, -1) @ w_o.T
