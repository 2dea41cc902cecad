import torch


def apply_rope(x, positions, base=10000.0):
    half = x.shape[-1] // 2
    inverse = base ** (-torch.arange(half, dtype=torch.float64) / half)
    angles = (positions.double() + 1)[:, None] * inverse
    cos, sin = angles.cos(), -angles.sin()
    a, b = x[..., :half].double(), x[..., half:].double()
    return torch.cat([a * cos - b * sin, a * sin + b * cos], dim=-1).to(x.dtype)
