import torch


def tables(positions, D, base):
    inv = base ** (-torch.arange(0, D, 2).to(positions.device, torch.float32) / D)
    angle = positions.to(torch.float32)[:, None] * inv[None, :]
    return angle.sin(), angle.cos()


def apply_rope(x, positions, base=10000.0):
    cos, sin = tables(positions, x.shape[-1], base)
    a, b = x.float().chunk(2, -1)
    return torch.cat((a * cos - b * sin, a * sin + b * cos), -1).to(x.dtype)
