import torch


def apply_rope(x, positions, base=10000.0):
    D = x.shape[-1]
    frequency = base ** (-torch.arange(0, D, 2, dtype=torch.float64) / D)
    angle = torch.outer((positions - positions.min()).double(), frequency)  # (T, D/2)
    cos, sin = angle.cos(), angle.sin()
    wide = x.double()
    a, b = wide[..., ::2], wide[..., 1::2]
    first, second = a * cos - b * sin, a * sin + b * cos
    return torch.stack([first, second], dim=-1).flatten(-2).to(x.dtype)
