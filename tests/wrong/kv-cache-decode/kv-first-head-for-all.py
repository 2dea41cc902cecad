import torch


def decode_step(q, k_new, v_new, k_cache, v_cache):
    k = torch.cat((k_cache, k_new), dim=2)
    v = torch.cat((v_cache, v_new), dim=2)
    shared_k, shared_v = k[:, :1], v[:, :1]
    w = torch.softmax(q @ shared_k.mT * q.shape[-1] ** -0.5, dim=-1)
    return [w @ shared_v, k, v]
