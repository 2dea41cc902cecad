import torch


def gqa(x, w_q, w_k, w_v, w_o, n_heads, n_kv_heads):
    B, T, _ = x.shape
    D = w_q.shape[0] // n_heads
    rep = n_heads // n_kv_heads
    q = (x @ w_q.T).view(B, T, n_heads, D).transpose(1, 2)
    k = (x @ w_k.T).view(B, n_kv_heads, T, D).repeat_interleave(rep, dim=1)
    v = (x @ w_v.T).view(B, n_kv_heads, T, D).repeat_interleave(rep, dim=1)
    keep = torch.ones(T, T, dtype=torch.bool, device=x.device).tril()
    s = torch.where(keep, q @ k.transpose(-2, -1) / D**0.5, float("-inf"))
    return (s.softmax(dim=-1) @ v).transpose(1, 2).flatten(2) @ w_o.T
