import torch


def gqa(x, w_q, w_k, w_v, w_o, n_heads, n_kv_heads):
    B, T, _ = x.shape
    D = w_q.size(0) // n_heads
    R = n_heads // n_kv_heads
    q = (x @ w_q.T).view(B, T, n_kv_heads, R, D).permute(0, 2, 3, 1, 4)
    k = (x @ w_k.T).view(B, T, n_kv_heads, 1, D).permute(0, 2, 3, 1, 4)
    v = (x @ w_v.T).view(B, T, n_kv_heads, 1, D).permute(0, 2, 3, 1, 4)
    w = torch.softmax(q @ k.transpose(-1, -2) / D**0.5, dim=-1)
    return (w @ v).permute(0, 3, 1, 2, 4).reshape(B, T, n_heads * D) @ w_o.T
