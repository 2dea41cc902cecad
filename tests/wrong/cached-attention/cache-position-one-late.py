import math

import torch


def rotate(vec, position, base):
    """Rotate one batch of head vectors (..., D) standing at one position."""
    dim = vec.shape[-1]
    out = torch.empty_like(vec)
    for i in range(dim // 2):
        angle = position * base ** (-2 * i / dim)
        c, s = math.cos(angle), math.sin(angle)
        a, b = vec[..., i], vec[..., i + dim // 2]
        out[..., i] = a * c - b * s
        out[..., i + dim // 2] = a * s + b * c
    return out


def cached_attention(x, w_q, w_k, w_v, w_o, n_heads, n_kv_heads, k_cache, v_cache, base=10000.0):
    n_batch, n_tokens, _ = x.shape
    n_past = k_cache.shape[2]
    dim = w_q.shape[0] // n_heads
    group = n_heads // n_kv_heads

    queries, keys, values = [], [], []
    for t in range(n_tokens):
        token = x[:, t]
        pos = n_past + t + 1
        queries.append(rotate((token @ w_q.T).reshape(n_batch, n_heads, dim), pos, base))
        keys.append(rotate((token @ w_k.T).reshape(n_batch, n_kv_heads, dim), pos, base))
        values.append((token @ w_v.T).reshape(n_batch, n_kv_heads, dim))
    k_cache = torch.cat([k_cache, torch.stack(keys, dim=2)], dim=2)
    v_cache = torch.cat([v_cache, torch.stack(values, dim=2)], dim=2)

    rows = []
    for t in range(n_tokens):
        seen = n_past + t + 1
        heads = []
        for h in range(n_heads):
            kh = k_cache[:, h // group, :seen]
            vh = v_cache[:, h // group, :seen]
            score = torch.einsum("bd,bsd->bs", queries[t][:, h], kh) / math.sqrt(dim)
            heads.append(torch.einsum("bs,bsd->bd", score.softmax(dim=-1), vh))
        rows.append(torch.cat(heads, dim=-1) @ w_o.T)
    return torch.stack(rows, dim=1), k_cache, v_cache
