import math

import torch


def cached_gqa(x, w_q, w_k, w_v, w_o, n_heads, n_kv_heads, k_cache, v_cache):
    # one head after the other; each adds its part of the output projection
    B, T, d = x.shape
    S = k_cache.shape[2]
    D = w_q.shape[0] // n_heads
    group_size = n_heads // n_kv_heads

    keys = []
    values = []
    for g in range(n_kv_heads):
        rows = slice(g * D, (g + 1) * D)
        new_key = x @ w_k[rows].T  # (B, T, D)
        new_value = x @ w_v[rows].T
        keys.append(torch.cat([k_cache[:, g], new_key], dim=1))
        values.append(torch.cat([v_cache[:, g], new_value], dim=1))

    hidden = torch.zeros(T, S + T, dtype=torch.bool)
    for i in range(T):
        for j in range(S + T):
            if j > S + i:
                hidden[i, j] = True

    out = torch.zeros(B, T, d, dtype=x.dtype)
    for h in range(n_heads):
        rows = slice(h * D, (h + 1) * D)
        query = x @ w_q[rows].T
        g = h // group_size
        scores = torch.bmm(query, keys[g].transpose(1, 2)) / math.sqrt(D)
        scores[:, hidden] = -math.inf
        head = torch.bmm(torch.softmax(scores, dim=2), values[g])
        out = out + head @ w_o[:, rows].T
    return out, torch.stack(keys, dim=1), torch.stack(values, dim=1)
