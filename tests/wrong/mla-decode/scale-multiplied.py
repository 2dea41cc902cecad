import torch


def attend_one(q, c, k_up, v_up):
    # q (H, D), c (S, R), k_up (H, D, R), v_up (H, D_v, R)
    q_c = torch.einsum("hd,hdr->hr", q, k_up)
    scores = q_c @ c.T * q.shape[-1] ** 0.5
    weights = torch.softmax(scores, dim=-1)
    mixed = weights @ c
    return torch.einsum("hr,hvr->hv", mixed, v_up)


def latent_decode(q, latent, w_uk, w_uv):
    n_heads = q.shape[1]
    k_up = torch.stack(w_uk.chunk(n_heads, dim=0))
    v_up = torch.stack(w_uv.chunk(n_heads, dim=0))
    rows = [attend_one(q[i, :, 0], latent[i], k_up, v_up) for i in range(q.shape[0])]
    return torch.stack(rows).unsqueeze(2)
