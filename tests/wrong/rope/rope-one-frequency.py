import torch


def apply_rope(x, positions, base=10000.0):
    half = x.shape[-1] // 2
    angle = positions.float()[None, None, :, None]
    cos, sin = angle.cos(), angle.sin()
    a, b = x[..., :half].float(), x[..., half:].float()
    return torch.cat((a * cos - b * sin, a * sin + b * cos), -1).to(x.dtype)
