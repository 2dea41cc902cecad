import torch


def gqa(x, w_q, w_k, w_v, w_o, n_heads, n_kv_heads):
    b, t, d = x.shape
    width = d // n_heads
    q = (x @ w_q.T).reshape(b, t, n_heads, width).transpose(1, 2)
    k = (x @ w_k.T).reshape(b, t, n_kv_heads, width).transpose(1, 2)
    v = (x @ w_v.T).reshape(b, t, n_kv_heads, width).transpose(1, 2)
    k = k.repeat_interleave(n_heads // n_kv_heads, dim=1)
    v = v.repeat_interleave(n_heads // n_kv_heads, dim=1)
    mask = torch.ones(t, t, dtype=torch.bool).tril()
    scores = (q @ k.transpose(-2, -1) / width**0.5).masked_fill(~mask, float("-inf"))
    out = torch.softmax(scores, dim=-1) @ v
    return out.transpose(1, 2).reshape(b, t, -1) @ w_o.T
