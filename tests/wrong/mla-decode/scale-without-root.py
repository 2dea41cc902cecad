import torch


def latent_decode(q, latent, w_uk, w_uv):
    H, D = q.shape[1], q.shape[3]
    Dv = w_uv.shape[0] // H
    outs = []
    for h in range(H):
        wk = w_uk[h * D : (h + 1) * D]
        wv = w_uv[h * Dv : (h + 1) * Dv]
        query = q[:, h] @ wk
        scores = query @ latent.transpose(1, 2)
        scores = scores / D
        attn = torch.softmax(scores, dim=-1)
        outs.append((attn @ latent) @ wv.T)
    return torch.stack(outs, dim=1)
