import torch


def decode_step(q, k_new, v_new, k_cache, v_cache):
    B, H, _, D = q.shape
    G = k_new.shape[1]
    keys = torch.cat((k_cache, k_new), dim=2)
    values = torch.cat((v_cache, v_new), dim=2)
    out = torch.zeros_like(q)
    for h in range(H):
        g = h // (H // G)
        k, v = keys[:, g, 1:], values[:, g, 1:]
        w = torch.softmax(q[:, h] @ k.mT / D**0.5, dim=-1)
        out[:, h] = w @ v
    return out, keys, values
