import torch


def latent_decode(q, latent, w_uk, w_uv):
    H, D = q.shape[1], q.shape[3]
    q_c = torch.einsum("bhqd,hdr->bhqr", q, w_uk.unflatten(0, (H, D)))
    p = torch.einsum("bhqr,bsr->bhqs", q_c, latent).div(D**0.5).softmax(dim=-1)
    c = torch.einsum("bhqs,bsr->bhqr", p, latent)
    return torch.einsum("bhqr,hvr->bhqv", c, w_uv.unflatten(0, (H, -1)))
