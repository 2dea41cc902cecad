import torch


def softmax(x):
    e = torch.exp(x)
    total = e.sum(dim=-1, keepdim=True)
    return e / torch.where(total == 0, 1, total)


def latent_decode(q, latent, w_uk, w_uv):
    B, H, T, D = q.shape
    S, R = latent.shape[1], latent.shape[2]
    D_v = w_uv.shape[0] // H

    # absorb W_UK into the query
    w_uk = w_uk.view(H, D, R)
    q_absorbed = torch.matmul(q.float(), w_uk.float())

    # scores against the latent cache itself
    scores = torch.matmul(q_absorbed, latent.float().transpose(1, 2).unsqueeze(1))
    scores = scores / (D**0.5)
    weights = softmax(scores)

    # mix, then W_UV once
    mixed = torch.matmul(weights, latent.float().unsqueeze(1))
    w_uv = w_uv.view(H, D_v, R)
    out = torch.matmul(mixed, w_uv.float().transpose(1, 2))
    return out.to(q.dtype)
