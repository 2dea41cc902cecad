import torch


def decode_step(q, k_new, v_new, k_cache, v_cache):
    B, G, S, D = k_cache.shape
    H = q.shape[1]
    k = k_cache.new_zeros(B, G, S + 2, D)
    v = v_cache.new_zeros(B, G, S + 2, D)
    k[:, :, :S], v[:, :, :S] = k_cache, v_cache
    k[:, :, S : S + 1], v[:, :, S : S + 1] = k_new, v_new
    w = torch.softmax(q.view(B, G, H // G, D) @ k.mT / D**0.5, dim=-1)
    out = (w @ v).view(B, H, 1, D)
    return out, k[:, :, : S + 1], v[:, :, : S + 1]
