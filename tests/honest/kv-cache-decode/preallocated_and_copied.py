import torch


def _grow(cache, new):
    B, H, S, D = cache.shape
    grown = cache.new_empty((B, H, S + 1, D))
    grown[:, :, :S].copy_(cache)
    grown[:, :, S:].copy_(new)
    return grown


@torch.no_grad()
def decode_step(q, k_new, v_new, k_cache, v_cache):
    k, v = _grow(k_cache, k_new), _grow(v_cache, v_new)
    share = q.shape[1] // k.shape[1]
    scores = torch.matmul(q, k.repeat_interleave(share, 1).transpose(-1, -2)) / q.shape[-1] ** 0.5
    out = torch.matmul(scores.softmax(-1), v.repeat_interleave(share, 1))
    return out, k, v
