import torch


def gqa(x, w_q, w_k, w_v, w_o, n_heads, n_kv_heads):
    B, T, _ = x.shape
    D = w_q.shape[0] // n_heads
    rep = n_heads // n_kv_heads
    q = (x @ w_q.T).view(B, T, n_heads, D).transpose(1, 2)
    k = (x @ w_k.T).view(B, T, n_kv_heads, D).transpose(1, 2)[:, :, None]
    v = (x @ w_v.T).view(B, T, n_kv_heads, D).transpose(1, 2)[:, :, None]
    k = k.expand(-1, -1, rep, -1, -1).reshape(B, n_heads, T, D)
    v = v.expand(-1, -1, rep, -1, -1).reshape(B, n_heads, T, D)
    mask = torch.ones(T, T, dtype=torch.bool, device=x.device).tril(diagonal=1)
    s = torch.where(mask, q @ k.mT / D**0.5, torch.tensor(-1e30, dtype=x.dtype, device=x.device))
    return (s.softmax(-1) @ v).transpose(1, 2).reshape(B, T, -1) @ w_o.T
