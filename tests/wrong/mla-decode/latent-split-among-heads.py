import math

import torch


def latent_decode(q, latent, w_uk, w_uv):
    n_heads, head_dim = q.shape[1], q.shape[3]
    rank = latent.shape[2]
    w_k = w_uk.reshape(n_heads, head_dim, rank)
    w_v = w_uv.reshape(n_heads, -1, rank)

    r = rank // n_heads
    c = latent.unflatten(-1, (n_heads, r)).transpose(1, 2)  # (B, H, S, r)
    w_k = torch.stack([w_k[h, :, h * r : (h + 1) * r] for h in range(n_heads)])
    w_v = torch.stack([w_v[h, :, h * r : (h + 1) * r] for h in range(n_heads)])
    q_latent = torch.matmul(q, w_k)  # (B, H, 1, r)
    scores = torch.matmul(q_latent, c.transpose(-2, -1)) / math.sqrt(head_dim)
    probs = scores.softmax(dim=-1)
    context = torch.matmul(probs, c)  # (B, H, 1, r)
    return torch.matmul(context, w_v.transpose(1, 2))
