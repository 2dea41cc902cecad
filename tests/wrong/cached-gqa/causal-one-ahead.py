import torch


def cached_gqa(x, w_q, w_k, w_v, w_o, n_heads, n_kv_heads, k_cache, v_cache):
    B, T, d = x.shape
    S = k_cache.shape[2]
    D = w_q.shape[0] // n_heads
    q = (x @ w_q.T).view(B, T, n_heads, D).transpose(1, 2)
    k = (x @ w_k.T).view(B, T, n_kv_heads, D).transpose(1, 2)
    v = (x @ w_v.T).view(B, T, n_kv_heads, D).transpose(1, 2)
    k_cache = torch.cat((k_cache, k), dim=2)
    v_cache = torch.cat((v_cache, v), dim=2)

    g = n_heads // n_kv_heads
    kk = k_cache.repeat_interleave(g, dim=1)
    vv = v_cache.repeat_interleave(g, dim=1)
    att = q @ kk.transpose(-1, -2) / D**0.5
    keep = torch.tril(torch.ones(T, S + T, dtype=torch.bool, device=x.device), S + 1)
    att = att.masked_fill(~keep, float("-inf"))
    y = torch.softmax(att, dim=-1) @ vv
    return y.transpose(1, 2).reshape(B, T, n_heads * D) @ w_o.T, k_cache, v_cache
