import torch
import torch.nn.functional as F


def cached_attention(x, w_q, w_k, w_v, w_o, n_heads, n_kv_heads, k_cache, v_cache, base=10000.0):
    """Fresh buffers of S + T slots, filled by slices; attention in single precision, grouped."""
    B, T, _ = x.shape
    S, D = k_cache.shape[2:]
    G = n_heads // n_kv_heads
    y = x.float()
    q = F.linear(y, w_q.float()).view(B, T, n_kv_heads, G, D)
    k = F.linear(y, w_k.float()).view(B, T, n_kv_heads, D)
    v = F.linear(y, w_v.float()).view(B, T, n_kv_heads, D)

    pos = torch.arange(S, S + T, dtype=torch.float32)
    freq = torch.tensor([base ** (-2 * i / D) for i in range(D // 2)])
    ang = torch.outer(pos, freq).repeat(1, 2)  # (T, D)

    def rot(z, shape):
        c, s = ang.cos().view(shape), ang.sin().view(shape)
        half = torch.cat((-z[..., D // 2 :], z[..., : D // 2]), -1)
        return z * c + half * s

    q = rot(q, (1, T, 1, 1, D))
    k = rot(k, (1, T, 1, D))

    keys = torch.empty(B, n_kv_heads, S + T, D, dtype=k_cache.dtype)
    vals = torch.empty(B, n_kv_heads, S + T, D, dtype=v_cache.dtype)
    keys[:, :, :S], vals[:, :, :S] = k_cache, v_cache
    keys[:, :, S:] = k.transpose(1, 2)
    vals[:, :, S:] = v.transpose(1, 2)

    s = torch.einsum("btngd,bnsd->bngts", q, keys.float()) * D**-0.5
    s = s.masked_fill(torch.arange(S + T) > torch.arange(S, S + T)[:, None], -torch.inf)
    o = torch.einsum("bngts,bnsd->btngd", s.softmax(-1), vals.float()).flatten(2)
    return F.linear(o, w_o.float()).to(x.dtype), keys, vals
