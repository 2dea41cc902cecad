import torch


def latent_decode(q, latent, w_uk, w_uv):
    b, h, _, d = q.shape
    s = latent.shape[1]
    k = (latent @ w_uk.T).view(b, s, h, -1).transpose(1, 2)
    v = (latent @ w_uv.T).view(b, s, h, -1).transpose(1, 2)
    return torch.softmax(q @ k.transpose(-2, -1) / d**0.5, dim=-1) @ v
