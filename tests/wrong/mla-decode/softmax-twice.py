import torch


def latent_decode(q, latent, w_uk, w_uv):
    H, D = q.shape[1], q.shape[3]
    uk, uv = w_uk.view(H, D, -1), w_uv.view(H, len(w_uv) // H, -1)
    p = ((q @ uk) @ latent[:, None].mT / D**0.5).softmax(-1).softmax(-1)
    return (p @ latent[:, None]) @ uv.mT
