import torch


def apply_rope(x, positions, base=10000.0):
    out = x.float().clone()
    dim = out.shape[-1]
    freqs = base ** (-torch.arange(0, dim, 2, device=x.device).float() / dim)
    angles = positions.float().unsqueeze(1) * freqs
    cos, sin = angles.cos(), angles.sin()
    even, odd = out[..., 0::2].clone(), out[..., 1::2].clone()
    out[..., 0::2] = even * cos - odd * sin
    return out.to(x.dtype)
