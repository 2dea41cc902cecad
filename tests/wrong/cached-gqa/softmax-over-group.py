from torch import arange, cat, einsum, softmax


def cached_gqa(x, w_q, w_k, w_v, w_o, n_heads, n_kv_heads, k_cache, v_cache):
    n, t, _ = x.shape
    past = k_cache.size(2)
    share = n_heads // n_kv_heads
    q = einsum("ntc,oc->nto", x, w_q).reshape(n, t, n_kv_heads, share, -1)
    k_new = einsum("ntc,oc->nto", x, w_k).reshape(n, t, n_kv_heads, -1)
    v_new = einsum("ntc,oc->nto", x, w_v).reshape(n, t, n_kv_heads, -1)
    width = q.size(-1)
    k = cat([k_cache, k_new.permute(0, 2, 1, 3)], 2)
    v = cat([v_cache, v_new.permute(0, 2, 1, 3)], 2)
    scores = einsum("ntkgd,nksd->nkgts", q, k) * width**-0.5
    future = arange(past + t)[None, :] > past + arange(t)[:, None]
    scores = scores.masked_fill(future, -float("inf"))
    weights = softmax(scores, dim=2)
    mixed = einsum("nkgts,nksd->ntkgd", weights, v)
    return einsum("nto,co->ntc", mixed.reshape(n, t, n_heads * width), w_o), k, v
