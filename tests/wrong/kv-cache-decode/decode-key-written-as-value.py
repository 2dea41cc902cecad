import torch


def extend(cache, new):
    return torch.cat([cache, new], dim=-2)


def decode_step(q, k_new, v_new, k_cache, v_cache):
    B, H, _, D = q.shape
    k_cache = extend(k_cache, k_new)
    v_cache = extend(v_cache, k_new)
    grouped = q.view(B, k_cache.shape[1], -1, D)
    w = (grouped @ k_cache.mT / D**0.5).softmax(-1)
    return (w @ v_cache).view(B, H, 1, D), k_cache, v_cache
