import torch


def decode_step(q, k_new, v_new, k_cache, v_cache):
    B, H, T, D = q.shape
    model_width = H * D
    k = torch.cat((k_cache, k_new), dim=2)
    v = torch.cat((v_cache, v_new), dim=2)
    rep = H // k.shape[1]
    scores = torch.bmm(
        q.reshape(B * H, 1, D), k.repeat_interleave(rep, 1).reshape(B * H, -1, D).mT
    ) / model_width**0.5
    out = torch.bmm(scores.softmax(-1), v.repeat_interleave(rep, 1).reshape(B * H, -1, D))
    return out.reshape(B, H, 1, D), k, v
