import torch


def decode_step(q, k_new, v_new, k_cache, v_cache):
    k = torch.cat((k_cache, k_new), dim=2)
    v = torch.cat((v_cache, v_new), dim=2)
    kk = k.repeat_interleave(q.shape[1] // k.shape[1], dim=1)
    attn = torch.softmax(q.matmul(kk.transpose(-1, -2)).mul(q.shape[-1] ** -0.5), dim=-1)
    return attn.matmul(kk), k, v
