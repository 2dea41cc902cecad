import torch


def decode_step(q, k_new, v_new, k_cache, v_cache):
    B, H, _, D = q.shape
    k, v = torch.cat((k_cache, k_new), 2), torch.cat((v_cache, v_new), 2)
    kk = torch.repeat_interleave(k, H // k.shape[1], 1).float()
    vv = torch.repeat_interleave(v, H // v.shape[1], 1).float()
    s = (q.float() * kk).sum(-1) / D
    w = torch.softmax(s, -1)
    out = (w[..., None] * vv).sum(2, keepdim=True)
    return out.to(q.dtype), k, v
