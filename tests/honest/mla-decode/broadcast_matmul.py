import math

import torch
from torch import Tensor


def absorb(q: Tensor, w_uk: Tensor) -> Tensor:
    """q (B, H, 1, D) and w_uk (H*D, R) -> queries that live in the latent space, (B, H, R)."""
    _, H, _, D = q.shape
    w = w_uk.view(H, D, w_uk.shape[1])
    return (q @ w).squeeze(2)


def expand(c: Tensor, w_uv: Tensor) -> Tensor:
    """c (B, H, R), the mixed latents -> (B, H, 1, D_v)."""
    H = c.shape[1]
    w = w_uv.view(H, w_uv.shape[0] // H, w_uv.shape[1])
    return c.unsqueeze(2) @ w.transpose(1, 2)


def latent_decode(q: Tensor, latent: Tensor, w_uk: Tensor, w_uv: Tensor) -> Tensor:
    scores = absorb(q, w_uk) @ latent.transpose(1, 2)  # (B, H, S)
    scores = scores / math.sqrt(q.shape[-1])
    weights = torch.softmax(scores, dim=-1)
    return expand(weights @ latent, w_uv)
