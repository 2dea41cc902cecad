import torch


def decode_step(q, k_new, v_new, k_cache, v_cache):
    k = torch.cat((k_new, k_cache), dim=2)
    v = torch.cat((v_new, v_cache), dim=2)
    rep = q.shape[1] // k.shape[1]
    K, V = k.repeat_interleave(rep, dim=1), v.repeat_interleave(rep, dim=1)
    w = torch.softmax(q @ K.transpose(2, 3) / q.shape[-1] ** 0.5, dim=-1)
    return w @ V, k, v
