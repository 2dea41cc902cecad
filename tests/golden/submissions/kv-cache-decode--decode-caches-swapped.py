import torch


def decode_step(q, k_new, v_new, k_cache, v_cache):
    B, H, _, D = q.shape
    k = torch.cat((k_cache, k_new), dim=2)
    v = torch.cat((v_cache, v_new), dim=2)
    n_kv = k.shape[1]
    expand = lambda c: c[:, :, None].expand(-1, -1, H // n_kv, -1, -1).flatten(1, 2)
    w = torch.softmax((q * D**-0.5) @ expand(k).mT, -1)
    return w @ expand(v), v, k
