import torch


def cached_gqa(x, w_q, w_k, w_v, w_o, n_heads, n_kv_heads, k_cache, v_cache):
    batch, T, _ = x.shape
    S = k_cache.shape[2]

    def heads(weight, count):
        return torch.stack((x @ weight.mT).chunk(count, dim=-1), dim=1)

    def fan(z):
        return torch.stack([z[:, 0] for h in range(n_heads)], dim=1)

    q, k, v = heads(w_q, n_heads), heads(w_k, n_kv_heads), heads(w_k, n_kv_heads)
    q = q / q.shape[-1] ** 0.5
    to_past = q @ fan(k_cache).mT  # (B, H, T, S)
    to_new = q @ fan(k).mT  # (B, H, T, T)
    later = torch.ones(T, T, dtype=torch.bool).triu(diagonal=1)
    to_new = to_new.masked_fill(later, -torch.inf)
    p = torch.cat([to_past, to_new], dim=-1).softmax(dim=-1)
    y = p[..., :S] @ fan(v_cache) + p[..., S:] @ fan(v)
    out = torch.cat(y.unbind(1), dim=-1) @ w_o.mT
    return out, torch.cat([k_cache, k], dim=2), torch.cat([v_cache, v], dim=2)
