import torch


def rotate(x, start, base):
    D = x.shape[-1]
    inv_freq = 1.0 / base ** (torch.arange(0, D, 2).float() / D)
    angle = torch.arange(start, start + x.shape[2]).float()[:, None] * inv_freq
    cos, sin = angle.cos().to(x.dtype), angle.sin().to(x.dtype)
    a, b = x.chunk(2, dim=-1)
    return torch.cat([a * cos - b * sin, a * sin + b * cos], dim=-1)


def cached_attention(x, w_q, w_k, w_v, w_o, n_heads, n_kv_heads, k_cache, v_cache, base=10000.0):
    B, T, _ = x.shape
    S = k_cache.shape[2]
    q = (x @ w_q.T).view(B, T, n_heads, -1).transpose(1, 2)
    k = (x @ w_k.T).view(B, T, n_kv_heads, -1).transpose(1, 2)
    v = (x @ w_v.T).view(B, T, n_kv_heads, -1).transpose(1, 2)
    q, k = rotate(q, S, base), rotate(k, S, base)
    k_cache = torch.cat([k_cache, k], dim=2)
    v_cache = torch.cat([v_cache, v], dim=2)

    group = n_heads // n_kv_heads
    keys = k_cache.repeat_interleave(group, dim=1)
    values = v_cache.repeat_interleave(group, dim=1)
    scores = q @ keys.transpose(-2, -1) / q.shape[-1] ** 0.5
    mask = torch.ones(T, S + T, dtype=torch.bool).tril(S)
    scores = scores.masked_fill(~mask, float("-inf"))
    out = torch.softmax(scores, dim=-1) @ values
    return out.transpose(1, 2).reshape(B, T, -1) @ w_o.T, k_cache, v_cache
