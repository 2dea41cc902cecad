import torch
import torch.nn.functional as F


def decode_step(q, k_new, v_new, k_cache, v_cache):
    k = torch.cat((k_cache, k_new), dim=2)
    v = torch.cat((v_cache, v_new), dim=2)
    rep = q.shape[1] // k.shape[1]
    kk, vv = (c.repeat_interleave(rep, dim=1) for c in (k, v))
    scores = torch.einsum("bhqd,bhkd->bhqk", q, kk) / q.shape[-1] ** 0.5
    return torch.einsum("bhqk,bhkd->bhqd", F.softmax(scores, dim=1), vv), k, v
