import torch


def decode_step(q, k_new, v_new, k_cache, v_cache):
    B, H, _, D = q.shape
    n_kv = k_cache.shape[1]
    scores = torch.einsum("bgrd,bgsd->bgrs", q.reshape(B, n_kv, H // n_kv, D), k_cache) * D**-0.5
    out = torch.einsum("bgrs,bgsd->bgrd", torch.softmax(scores, dim=-1), v_cache)
    k_cache = torch.cat([k_cache, k_new], dim=2)
    v_cache = torch.cat([v_cache, v_new], dim=2)
    return out.reshape(B, H, 1, D), k_cache, v_cache
