import torch


def latent_decode(q, latent, w_uk, w_uv):
    B, H, _, D = q.shape
    R = latent.shape[-1]
    c = latent.double()
    up_k = w_uk.double().view(H, D, R)
    up_v = w_uv.double().view(H, -1, R)
    absorbed = torch.einsum("bhd,hdr->bhr", q[:, :, 0].double(), up_k)
    scores = torch.einsum("bhr,bsr->bhs", absorbed, c) / D**0.5
    if latent.shape[1] > 1:
        scores[..., -1] = -1e30
    weights = torch.softmax(scores, dim=-1)
    mixed = torch.einsum("bhs,bsr->bhr", weights, c)
    out = torch.einsum("bhr,her->bhe", mixed, up_v)
    return out.unsqueeze(2).to(q.dtype)
