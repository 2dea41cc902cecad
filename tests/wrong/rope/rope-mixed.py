import torch


def rotate_half(x):
    a, b = x.chunk(2, dim=-1)
    return torch.cat([-b, a], dim=-1)


def apply_rope(x, positions, base=10000.0):
    D = x.shape[-1]
    inv_freq = 1.0 / base ** (torch.arange(0, D, 2, device=x.device).float() / D)
    angles = torch.outer(positions.float(), inv_freq).repeat_interleave(2, dim=-1)
    y = x.float() * angles.cos() + rotate_half(x.float()) * angles.sin()
    return y.to(x.dtype)
