import torch


def apply_rope(x, positions, base=10000.0):
    dim = x.shape[-1]
    wide = torch.promote_types(x.dtype, torch.float32)
    freq = base ** (-2 * torch.arange(dim // 2, device=x.device, dtype=wide) / dim)
    angle = torch.outer(positions.to(x.dtype).to(wide), freq)
    cos, sin = angle.cos(), angle.sin()
    a, b = x.to(wide)[..., ::2], x.to(wide)[..., 1::2]
    return torch.stack((a * cos - b * sin, b * cos + a * sin), -1).flatten(-2).to(x.dtype)
