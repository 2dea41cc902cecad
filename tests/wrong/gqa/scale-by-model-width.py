import torch


def gqa(x, w_q, w_k, w_v, w_o, n_heads, n_kv_heads):
    B, T, d_model = x.shape
    D = w_q.shape[0] // n_heads
    rep = n_heads // n_kv_heads
    split = lambda y, n: y.view(B, T, n, D).permute(0, 2, 1, 3)
    q = split(x @ w_q.T, n_heads) * d_model**-0.5
    k = split(x @ w_k.T, n_kv_heads).repeat_interleave(rep, dim=1)
    v = split(x @ w_v.T, n_kv_heads).repeat_interleave(rep, dim=1)
    keep = torch.arange(T, device=x.device).unsqueeze(1) >= torch.arange(T, device=x.device)
    w = (q @ k.mT).masked_fill(~keep, torch.finfo(x.dtype).min).softmax(-1)
    return (w @ v).permute(0, 2, 1, 3).flatten(2) @ w_o.T
