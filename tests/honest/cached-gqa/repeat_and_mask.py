import torch


def cached_gqa(x, w_q, w_k, w_v, w_o, n_heads, n_kv_heads, k_cache, v_cache):
    B, T, _ = x.shape
    S = k_cache.shape[2]
    q = (x @ w_q.T).view(B, T, n_heads, -1).transpose(1, 2)
    k = (x @ w_k.T).view(B, T, n_kv_heads, -1).transpose(1, 2)
    v = (x @ w_v.T).view(B, T, n_kv_heads, -1).transpose(1, 2)
    k_cache = torch.cat([k_cache, k], dim=2)
    v_cache = torch.cat([v_cache, v], dim=2)
    rep = n_heads // n_kv_heads
    keys = k_cache.repeat_interleave(rep, dim=1)
    values = v_cache.repeat_interleave(rep, dim=1)
    scores = q @ keys.transpose(-2, -1) / q.shape[-1] ** 0.5
    mask = torch.tril(torch.ones(T, S + T, dtype=torch.bool, device=x.device), diagonal=S)
    scores = scores.masked_fill(~mask, float("-inf"))
    y = torch.softmax(scores, dim=-1) @ values
    return y.transpose(1, 2).reshape(B, T, -1) @ w_o.T, k_cache, v_cache
