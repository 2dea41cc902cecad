import math

import torch


def apply_rope(x, positions, base=10000.0):
    """Angles in double, result written into a fresh buffer, evens then odds."""
    D = x.shape[-1]
    i = torch.arange(D // 2, dtype=torch.float64)
    angle = positions.double().view(-1, 1) * torch.exp(i * (-2.0 * math.log(base) / D))
    c, s = angle.cos(), angle.sin()
    out = torch.empty_like(x)
    out[..., ::2] = (x[..., ::2] * c - x[..., 1::2] * s).to(x.dtype)
    out[..., 1::2] = (x[..., ::2] * s + x[..., 1::2] * c).to(x.dtype)
    return out
