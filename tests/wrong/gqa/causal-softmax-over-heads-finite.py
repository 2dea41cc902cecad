import torch


def gqa(x, w_q, w_k, w_v, w_o, n_heads, n_kv_heads):
    B, T, _ = x.shape
    D = w_q.shape[0] // n_heads
    rep = n_heads // n_kv_heads
    q = torch.einsum("btd,hed->bhte", x, w_q.unflatten(0, (n_heads, D)))
    k = torch.einsum("btd,ged->bgte", x, w_k.unflatten(0, (n_kv_heads, D)))
    v = torch.einsum("btd,ged->bgte", x, w_v.unflatten(0, (n_kv_heads, D)))
    s = torch.stack([q[:, h] @ k[:, h // rep].mT for h in range(n_heads)]) / D**0.5
    s = torch.where(torch.ones(T, T, device=x.device).tril() > 0, s, torch.finfo(x.dtype).min)
    p = torch.softmax(s, dim=0)
    y = torch.stack([p[h] @ v[:, h // rep] for h in range(n_heads)], dim=2)
    return y.flatten(2) @ w_o.T
