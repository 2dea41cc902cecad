import torch


def apply_rope(x, positions, base=10000.0):
    D = x.shape[-1]
    freq = base ** (-torch.arange(0, D, 2, dtype=torch.float64) / D)
    angle = positions[:, None].double() * freq
    cos, sin = angle.cos().to(x.dtype), angle.sin().to(x.dtype)
    a, b = x[..., : D // 2], x[..., D // 2 :]
    return torch.cat((a * cos - b * sin, a * sin + b * cos), dim=-1)
