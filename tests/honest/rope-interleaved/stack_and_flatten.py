import torch


def apply_rope(x, positions, base=10000.0):
    D = x.size(-1)
    inv_freq = base ** (-torch.arange(0, D, 2).float() / D)
    theta = positions.float().unsqueeze(-1) * inv_freq          # (T, D/2)
    cos = theta.cos().to(x.dtype)
    sin = theta.sin().to(x.dtype)
    even, odd = x[..., 0::2], x[..., 1::2]
    return torch.stack((even * cos - odd * sin, even * sin + odd * cos), dim=-1).flatten(-2)
