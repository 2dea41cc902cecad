import torch


def latent_decode(q, latent, w_uk, w_uv):
    b, h, _, d = q.shape
    q = q.squeeze(2)
    wk = w_uk.unflatten(0, (h, d))
    wv = w_uv.unflatten(0, (h, -1))

    # move the key up-projection over to the query
    q_abs = torch.einsum("bhd,hdr->br", q, wk)
    att = torch.einsum("br,bsr->bs", q_abs, latent) * d**-0.5
    att = att.softmax(dim=-1)

    # mix the latents, then expand once
    ctx = torch.einsum("bs,bsr->br", att, latent)
    out = torch.einsum("br,hvr->bhv", ctx, wv)
    return out.unsqueeze(2)
