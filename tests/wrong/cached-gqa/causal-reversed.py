import torch


def soft(z, axis=-1):
    z = z - z.max(dim=axis, keepdim=True).values
    e = torch.exp(z)
    return e / e.sum(dim=axis, keepdim=True)


def cached_gqa(x, w_q, w_k, w_v, w_o, n_heads, n_kv_heads, k_cache, v_cache):
    bs, new, dim = x.shape
    old, hd = k_cache.shape[-2:]
    idx = torch.arange(n_heads) // (n_heads // n_kv_heads)
    heads_first = lambda w, n: torch.matmul(x, w.t()).reshape(bs, new, n, hd).permute(0, 2, 1, 3)
    query = heads_first(w_q, n_heads)
    keys = torch.cat((k_cache, heads_first(w_k, n_kv_heads)), 2)
    vals = torch.cat((v_cache, heads_first(w_v, n_kv_heads)), 2)
    sim = (query * hd**-0.5) @ keys.index_select(1, idx).transpose(2, 3)
    row = torch.arange(new).reshape(-1, 1) + old
    col = torch.arange(old + new).reshape(1, -1)
    sim = torch.where(col >= row, sim, torch.tensor(-torch.inf, dtype=sim.dtype))
    ctx = soft(sim) @ vals.index_select(1, idx)
    return ctx.permute(0, 2, 1, 3).reshape(bs, new, n_heads * hd) @ w_o.t(), keys, vals
