import torch


def cached_attention(x, w_q, w_k, w_v, w_o, n_heads, n_kv_heads, k_cache, v_cache, base=10000.0):
    """Scores against the past need no mask and those among the new tokens a square one;
    one softmax runs over the two put together.
    """
    B, T, _ = x.shape
    S, D = k_cache.shape[-2], k_cache.shape[-1]
    dt = torch.promote_types(x.dtype, torch.float32)

    def split(w, n):
        return torch.matmul(x.to(dt), w.to(dt).t()).reshape(B, T, n, D).permute(0, 2, 1, 3)

    q, k_new, v_new = split(w_q, n_heads), split(w_k, n_kv_heads), split(w_v, n_kv_heads)

    half = torch.arange(D // 2, dtype=dt)
    angles = (S + torch.arange(T, dtype=dt))[:, None] * torch.pow(base, -2 * half / D)
    c, s = angles.cos(), angles.sin()
    for z in (q, k_new):
        lo, hi = z[..., : D // 2].clone(), z[..., D // 2 :].clone()
        z[..., : D // 2] = lo * c - hi * s  # q and k_new are our own
        z[..., D // 2 :] = lo * s + hi * c

    def share(z):
        z = z.to(dt)[:, :, None].expand(-1, -1, n_heads // n_kv_heads, -1, -1)
        return z.reshape(B, n_heads, z.shape[3], D)

    past = q @ share(k_cache).mT
    new = (q @ share(k_new).mT).masked_fill(torch.ones(T, T).triu(1).bool(), -torch.inf)
    p = torch.softmax(torch.cat([past, new], -1) / D**0.5, -1)
    o = p[..., :S] @ share(v_cache) + p[..., S:] @ share(v_new)
    out = o.permute(0, 2, 1, 3).reshape(B, T, n_heads * D) @ w_o.to(dt).t()
    return (
        out.to(x.dtype),
        torch.cat([k_cache, k_new.to(k_cache.dtype)], 2),
        torch.cat([v_cache, v_new.to(v_cache.dtype)], 2),
    )
