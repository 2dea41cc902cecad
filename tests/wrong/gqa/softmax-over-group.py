import torch


def gqa(x, w_q, w_k, w_v, w_o, n_heads, n_kv_heads):
    B, T, _ = x.shape
    G, D = n_heads // n_kv_heads, w_q.size(0) // n_heads
    q = (x @ w_q.mT).view(B, T, n_kv_heads, G, D).permute(0, 2, 3, 1, 4)
    k = (x @ w_k.mT).view(B, T, n_kv_heads, 1, D).permute(0, 2, 3, 1, 4)
    v = (x @ w_v.mT).view(B, T, n_kv_heads, 1, D).permute(0, 2, 3, 1, 4)
    scores = q @ k.mT / D**0.5
    scores = scores.masked_fill(torch.ones(T, T, dtype=torch.bool).triu(1), -1e9)
    out = scores.softmax(2) @ v
    return out.permute(0, 3, 1, 2, 4).reshape(B, T, -1) @ w_o.mT
