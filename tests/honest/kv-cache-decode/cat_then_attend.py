import torch


def decode_step(q, k_new, v_new, k_cache, v_cache):
    k = torch.cat([k_cache, k_new], dim=2)
    v = torch.cat([v_cache, v_new], dim=2)
    per = q.shape[1] // k.shape[1]
    kk, vv = k.repeat_interleave(per, 1), v.repeat_interleave(per, 1)
    p = torch.softmax(q @ kk.transpose(2, 3) / q.shape[-1] ** 0.5, dim=-1)
    return p @ vv, k, v
