import torch


def gqa(x, w_q, w_k, w_v, w_o, n_heads, n_kv_heads):
    B, T, _ = x.shape
    D = w_q.shape[0] // n_heads
    share = torch.arange(n_heads, device=x.device) // (n_heads // n_kv_heads)
    q = (x @ w_q.T).view(B, T, n_heads, D).transpose(1, 2)
    k = (x @ w_k.T).view(B, T, n_kv_heads, D).transpose(1, 2)[:, share]
    v = (x @ w_v.T).view(B, T, n_kv_heads, D).transpose(1, 2)[:, share]
    mask = torch.ones(T, T, device=x.device).tril()
    s = (q @ k.transpose(2, 3) / D**0.5).masked_fill(mask == 1, -1e9)
    return (s.softmax(-1) @ v).transpose(1, 2).reshape(B, T, n_heads * D) @ w_o.T
