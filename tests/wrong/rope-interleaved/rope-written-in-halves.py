import torch


def apply_rope(x, positions, base=10000.0):
    D = x.shape[-1]
    i = torch.arange(0, D, 2, device=x.device).float()
    inv_freq = 1.0 / base ** (i / D)
    angle = positions.float()[:, None] * inv_freq[None, :]
    cos, sin = angle.cos(), angle.sin()
    even, odd = x[..., 0::2].float(), x[..., 1::2].float()
    out = torch.cat([even * cos - odd * sin, even * sin + odd * cos], dim=-1)
    return out.to(x.dtype)
