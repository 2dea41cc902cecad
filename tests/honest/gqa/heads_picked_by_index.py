import torch


def gqa(x, w_q, w_k, w_v, w_o, n_heads, n_kv_heads):
    B, T, _ = x.shape
    q = (x @ w_q.T).unflatten(-1, (n_heads, -1)).transpose(1, 2)
    k = (x @ w_k.T).unflatten(-1, (n_kv_heads, -1)).transpose(1, 2)
    v = (x @ w_v.T).unflatten(-1, (n_kv_heads, -1)).transpose(1, 2)
    owner = torch.div(torch.arange(n_heads), n_heads // n_kv_heads, rounding_mode="floor")
    k, v = k.index_select(1, owner), v[:, owner]
    s = q @ k.transpose(-1, -2) / q.shape[-1] ** 0.5
    s = s.masked_fill(torch.triu(torch.ones(T, T), 1) == 1, float("-inf"))
    return (s.softmax(-1) @ v).transpose(1, 2).reshape(B, T, -1) @ w_o.T
