import torch


def apply_rope(x, positions, base=10000.0):
    D = x.shape[-1]
    freq = base ** (-torch.arange(0, D, 2, dtype=torch.float32, device=x.device) / D)
    angle = positions.float()[:, None] * freq
    c, s = angle.cos(), angle.sin()
    even, odd = x[..., 0::2].float(), x[..., 1::2].float()
    turned = torch.stack((even * c - odd * s, even * s + odd * c), dim=-1)
    return turned.flatten(-2).to(x.dtype)
