import math

import torch


def rotate_half(x):
    first, second = x.chunk(2, dim=-1)
    return torch.cat((-second, first), dim=-1)


def apply_rope(x, positions, base=10000.0):
    D = x.shape[-1]
    inv = torch.exp(-math.log(base) * torch.arange(0, D, 2).float() / D)
    t = positions.float()[:, None] * inv[None]
    emb = torch.cat([t, t], -1)[None, None]
    y = x.float()
    return (y * emb.cos() + rotate_half(y) * emb.sin()).to(x.dtype)
