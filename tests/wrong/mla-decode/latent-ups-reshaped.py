import torch


def latent_decode(q, latent, w_uk, w_uv):
    H, D = q.shape[1], q.shape[3]
    uk, uv = w_uk.view(H, -1, D), w_uv.view(H, -1, len(w_uv) // H)
    p = ((q @ uk.mT) @ latent[:, None].mT / D**0.5).softmax(-1)
    return (p @ latent[:, None]) @ uv
