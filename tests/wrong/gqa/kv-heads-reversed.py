import torch


def gqa(x, w_q, w_k, w_v, w_o, n_heads, n_kv_heads):
    B, T, _ = x.shape
    D = w_q.shape[0] // n_heads
    group = n_heads // n_kv_heads
    q = (x @ w_q.T).reshape(B, T, n_heads, D)
    k = (x @ w_k.T).reshape(B, T, n_kv_heads, D)
    v = (x @ w_v.T).reshape(B, T, n_kv_heads, D)
    mask = torch.full((T, T), -torch.inf, dtype=x.dtype, device=x.device).triu(1)
    y = []
    for h in range(n_heads):
        g = -1 - h // group
        w = torch.softmax(q[:, :, h] @ k[:, :, g].mT * D**-0.5 + mask, dim=-1)
        y.append(w @ v[:, :, g])
    return torch.stack(y, dim=2).reshape(B, T, -1) @ w_o.T
