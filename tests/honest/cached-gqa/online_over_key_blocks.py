import torch


def cached_gqa(x, w_q, w_k, w_v, w_o, n_heads, n_kv_heads, k_cache, v_cache, block=16):
    """Blocks of keys with a running maximum, as a fused kernel would; nothing of T x (S + T)."""
    B, T, _ = x.shape
    S, D = k_cache.shape[2:]
    K, V = (
        torch.cat((c, (x @ w.T).view(B, T, n_kv_heads, D).transpose(1, 2)), 2)
        for c, w in ((k_cache, w_k), (v_cache, w_v))
    )
    acc = torch.promote_types(x.dtype, torch.float32)
    q = (x @ w_q.T).to(acc).view(B, T, n_kv_heads, -1, D).permute(0, 2, 3, 1, 4) / D**0.5
    m = torch.full_like(q[..., :1], -torch.inf)
    l, o = torch.zeros_like(m), torch.zeros_like(q)
    where = torch.arange(S, S + T)[:, None]
    for at in range(0, S + T, block):
        k, v = (z[:, :, None, at : at + block].to(acc) for z in (K, V))
        s = q @ k.mT
        s = s.masked_fill(torch.arange(at, at + s.shape[-1]) > where, -torch.inf)
        top = torch.maximum(m, s.amax(-1, keepdim=True))  # key 0 is seen by all: finite
        c, p = (m - top).exp(), (s - top).exp()
        l, o, m = c * l + p.sum(-1, keepdim=True), c * o + p @ v, top
    y = (o / l).permute(0, 3, 1, 2, 4).reshape(B, T, -1)
    return (y @ w_o.to(acc).T).to(x.dtype), K, V
