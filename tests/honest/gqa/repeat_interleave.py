import torch


def gqa(x, w_q, w_k, w_v, w_o, n_heads, n_kv_heads):
    B, T, _ = x.shape
    D = w_q.shape[0] // n_heads
    q = (x @ w_q.T).view(B, T, n_heads, D).transpose(1, 2)
    k = (x @ w_k.T).view(B, T, n_kv_heads, D).transpose(1, 2)
    v = (x @ w_v.T).view(B, T, n_kv_heads, D).transpose(1, 2)
    k = k.repeat_interleave(n_heads // n_kv_heads, dim=1)
    v = v.repeat_interleave(n_heads // n_kv_heads, dim=1)
    s = q @ k.transpose(-1, -2) * D**-0.5
    s = s + torch.triu(torch.full((T, T), float("-inf"), dtype=x.dtype), 1)
    o = s.softmax(-1) @ v
    return o.transpose(1, 2).reshape(B, T, n_heads * D) @ w_o.T
