import torch


def latent_decode(q, latent, w_uk, w_uv):
    H, D = q.shape[1], q.shape[3]
    outs = []
    for h in range(H):
        wk = w_uk[h::H]
        wv = w_uv[h::H]
        query = q[:, h] @ wk
        scores = query @ latent.transpose(1, 2)
        scores = scores * D**-0.5
        attn = torch.softmax(scores, dim=-1)
        outs.append((attn @ latent) @ wv.T)
    return torch.stack(outs, dim=1)
