import math

import torch


def latent_decode(q, latent, w_uk, w_uv):
    dtype = q.dtype
    H, D = q.shape[1], q.shape[-1]
    R = latent.shape[-1]
    c = latent.double()
    k_up = w_uk.double().reshape(H, D, R)
    v_up = w_uv.double().reshape(H, w_uv.shape[0] // H, R)
    qr = (q.double()[:, :, 0, :, None] * k_up).sum(2)  # (B, H, R)
    scores = torch.bmm(qr, c.mT) / math.sqrt(D)
    p = torch.softmax(scores, dim=0)
    mixed = p @ c
    out = (mixed[:, :, None, :] * v_up).sum(-1)
    return out[:, :, None, :].to(dtype)
