import math

import torch


def latent_decode(q, latent, w_uk, w_uv):
    n_heads, head_dim = q.shape[1], q.shape[3]
    rank = latent.shape[2]
    w_k = w_uk.reshape(n_heads, head_dim, rank)

    c = latent.unsqueeze(1)  # (B, 1, S, R), shared by the heads
    q_latent = torch.matmul(q, w_k)  # (B, H, 1, R)
    scores = torch.matmul(q_latent, c.transpose(-2, -1)) / math.sqrt(head_dim)
    probs = scores.softmax(dim=-1)
    context = torch.matmul(probs, c)  # (B, H, 1, R)
    return torch.matmul(context, w_k.transpose(1, 2))
