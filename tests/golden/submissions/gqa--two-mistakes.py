import torch


def gqa(x, w_q, w_k, w_v, w_o, n_heads, n_kv_heads):
    b, t, _ = x.shape
    q = (x @ w_q.T).view(b, t, n_heads, -1).transpose(1, 2)
    k = (x @ w_k.T).view(b, t, n_kv_heads, -1).transpose(1, 2)
    v = (x @ w_v.T).view(b, t, n_kv_heads, -1).transpose(1, 2)
    k = k.repeat(1, n_heads // n_kv_heads, 1, 1)
    v = v.repeat(1, n_heads // n_kv_heads, 1, 1)
    mask = torch.ones(t, t, dtype=torch.bool).tril()
    scores = (q @ k.transpose(-2, -1)).masked_fill(~mask, float("-inf"))
    out = torch.softmax(scores, dim=-1) @ v
    return out.transpose(1, 2).reshape(b, t, -1) @ w_o.T
