import torch


def decode_step(q, k_new, v_new, k_cache, v_cache):
    k = torch.cat((k_cache, k_new), dim=2)
    v = torch.cat((v_cache, v_new), dim=2)
    rep = q.shape[1] // k.shape[1]
    K, V = k.repeat(1, rep, 1, 1), v.repeat(1, rep, 1, 1)
    scores = torch.matmul(q, K.permute(0, 1, 3, 2)) / q.shape[-1] ** 0.5
    return torch.matmul(scores.softmax(-1), V), k, v
