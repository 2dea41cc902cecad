import torch


def decode_step(q, k_new, v_new, k_cache, v_cache):
    D = q.shape[-1]
    k = torch.cat((k_cache, k_new), dim=2)
    v = torch.cat((v_cache, v_new), dim=2)
    rep = q.shape[1] // k.shape[1]
    scores = q @ k.repeat_interleave(rep, dim=1).transpose(2, 3) / D**0.5
    weights = scores.softmax(dim=2)
    return weights @ v.repeat_interleave(rep, dim=1), k, v
