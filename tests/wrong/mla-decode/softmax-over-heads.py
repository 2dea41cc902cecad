import torch


def latent_decode(q, latent, w_uk, w_uv):
    b, h, _, d = q.shape
    s, r = latent.shape[1:]
    q = q.squeeze(2)
    wk = w_uk.unflatten(0, (h, d))
    wv = w_uv.unflatten(0, (h, -1))

    # move the key up-projection over to the query
    q_abs = torch.einsum("bhd,hdr->bhr", q, wk)
    att = torch.bmm(q_abs, latent.transpose(1, 2)) * d**-0.5
    att = att.softmax(dim=1)

    # mix the latents, then expand once
    ctx = torch.bmm(att, latent)
    out = torch.einsum("bhr,hvr->bhv", ctx, wv)
    return out.unsqueeze(2)
