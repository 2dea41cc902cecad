import torch


def cached_gqa(x, w_q, w_k, w_v, w_o, n_heads, n_kv_heads, k_cache, v_cache):
    B, T, _ = x.shape
    D = k_cache.shape[-1]
    rep = n_heads // n_kv_heads
    rows = []
    for i in range(T):
        tok = x[:, i]
        q = (tok @ w_q.T).view(B, n_heads, 1, D)
        k_i = (tok @ w_k.T).view(B, n_kv_heads, 1, D)
        k_cache = torch.cat([k_cache, k_i], dim=2)
        v_cache = torch.cat([v_cache, k_i], dim=2)
        keys = k_cache.repeat_interleave(rep, 1)
        values = v_cache.repeat_interleave(rep, 1)
        s = (q * keys).sum(-1) / D**0.5
        p = torch.softmax(s, dim=-1)
        rows.append((p[..., None] * values).sum(2).reshape(B, -1) @ w_o.T)
    return torch.stack(rows, 1), k_cache, v_cache
