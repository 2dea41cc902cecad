import torch


def decode_step(q, k_new, v_new, k_cache, v_cache):
    k = torch.cat((k_cache, k_new), dim=2)
    v = torch.cat((v_cache, v_new), dim=2)
    B, H, _, D = q.shape
    G, N = k.shape[1:3]
    s = torch.einsum("bgrd,bgnd->bgrn", q.view(B, G, H // G, D), k) / N**0.5
    out = torch.einsum("bgrn,bgnd->bgrd", torch.softmax(s, dim=-1), v)
    return out.reshape(B, H, 1, D), k, v
