import torch


def decode_step(q, k_new, v_new, k_cache, v_cache):
    H, G = q.shape[1], k_new.shape[1]
    k = torch.cat((k_cache, k_new), dim=2)
    v = torch.cat((v_cache, v_new), dim=2)
    outs = []
    for h in range(H):
        g = G - 1 - h // (H // G)
        w = (q[:, h] @ k[:, g].mT / q.shape[-1] ** 0.5).softmax(-1)
        outs.append(w @ v[:, g])
    return torch.stack(outs, 1), k, v
