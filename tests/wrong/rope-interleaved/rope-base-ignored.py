import torch


def apply_rope(x, positions, base=10000.0):
    d = x.shape[-1]
    t = positions[:, None] * 10000.0 ** (-torch.arange(0, d, 2, device=x.device) / d)
    c, s = t.cos(), t.sin()
    a, b = x[..., ::2], x[..., 1::2]
    return torch.stack((a * c - b * s, a * s + b * c), -1).view_as(x).to(x.dtype)
