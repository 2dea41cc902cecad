import torch


def gqa(x, w_q, w_k, w_v, w_o, n_heads, n_kv_heads):
    B, T, _ = x.shape
    D = w_q.shape[0] // n_heads
    rep = n_heads // n_kv_heads
    X = x.float()
    q = (X @ w_q.float().T).view(B, T, n_heads, D).movedim(2, 1)
    k = (X @ w_k.float().T).view(B, T, n_kv_heads, D).movedim(2, 1).repeat_interleave(rep, 1)
    v = (X @ w_v.float().T).view(B, T, n_kv_heads, D).movedim(2, 1).repeat_interleave(rep, 1)
    bias = torch.full((T, T), float("-inf"), device=x.device).tril(-1)
    w = torch.softmax(q @ k.mT / D**0.5 + bias, dim=-1)
    y = (w @ v).movedim(1, 2).reshape(B, T, n_heads * D)
    return (y @ w_o.float().T).to(x.dtype)
