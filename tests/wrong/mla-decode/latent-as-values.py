import torch


def latent_decode(q, latent, w_uk, w_uv):
    B, H, _, D = q.shape
    R = latent.shape[-1]
    up_k = w_uk.view(H, D, R)
    absorbed = torch.einsum("bhqd,hdr->bhqr", q, up_k)
    scores = torch.einsum("bhqr,bsr->bhqs", absorbed, latent) / D**0.5
    weights = torch.softmax(scores, dim=-1)
    return torch.einsum("bhqs,bsr->bhqr", weights, latent)
