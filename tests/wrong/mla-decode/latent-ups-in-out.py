import torch


def latent_decode(q, latent, w_uk, w_uv):
    B, H, _, D = q.shape
    R = latent.shape[-1]
    up_k = w_uk.view(R, H, D)
    up_v = w_uv.view(R, H, -1)
    absorbed = torch.einsum("bhqd,rhd->bhqr", q, up_k)
    scores = torch.einsum("bhqr,bsr->bhqs", absorbed, latent) / D**0.5
    weights = torch.softmax(scores, dim=-1)
    mixed = torch.einsum("bhqs,bsr->bhqr", weights, latent)
    return torch.einsum("bhqr,rhv->bhqv", mixed, up_v)
