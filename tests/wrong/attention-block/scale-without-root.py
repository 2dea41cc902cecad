import torch


def rotate(x, positions, base):
    # x: (b, t, ..., D)
    D = x.shape[-1]
    t = positions.float()[:, None] * base ** (-torch.arange(0, D, 2, device=x.device).float() / D)
    shape = (1, t.shape[0]) + (1,) * (x.dim() - 3) + (D // 2,)
    c, s = t.cos().view(shape), t.sin().view(shape)
    a, b = x.float().chunk(2, dim=-1)
    return torch.cat([a * c - b * s, b * c + a * s], -1).to(x.dtype)


def attention_block(x, w_q, w_k, w_v, w_o, n_heads, n_kv_heads, positions, base=10000.0):
    b, t, _ = x.shape
    g, r = n_kv_heads, n_heads // n_kv_heads
    q = (x @ w_q.T).unflatten(-1, (g, r, -1))
    k = (x @ w_k.T).unflatten(-1, (g, -1))
    v = (x @ w_v.T).unflatten(-1, (g, -1))
    q, k = rotate(q, positions, base), rotate(k, positions, base)
    scores = torch.einsum("bigrd,bjgd->bgrij", q, k) / q.shape[-1]
    future = torch.ones(t, t, dtype=torch.bool, device=x.device).triu(1)
    scores = scores.masked_fill(future, -torch.inf)
    attn = scores.softmax(-1)
    mixed = torch.einsum("bgrij,bjgd->bigrd", attn, v)
    return mixed.flatten(2) @ w_o.T
