import torch


def decode_step(q, k_new, v_new, k_cache, v_cache):
    B, H, _, D = q.shape
    k = torch.cat((k_cache, k_new), dim=2)
    v = torch.cat((v_cache, v_new), dim=2)
    rows = q.reshape(B, k.size(1), -1, D)
    s = torch.matmul(rows, k.transpose(2, 3))
    s = s - s.amax(-1, keepdim=True)
    e = s.exp()
    out = torch.matmul(e / e.sum(-1, keepdim=True), v)
    return out.reshape(B, H, 1, D), k, v
