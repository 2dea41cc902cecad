import torch


def apply_rope(x, positions, base=10000.0):
    half = x.shape[-1] // 2
    inv = torch.pow(float(base), -torch.arange(half, dtype=torch.float64) / half)
    ang = torch.einsum("t,i->ti", positions.to(torch.float64), inv)
    wide = torch.promote_types(x.dtype, torch.float32)
    cos, sin = ang.cos().to(wide), ang.sin().to(wide)
    y = x.to(wide)
    out = torch.empty_like(y)
    out[..., :half] = y[..., :half] * cos
    out[..., :half] -= y[..., half:] * sin
    out[..., half:] = y[..., :half] * sin
    out[..., half:] += y[..., half:] * cos
    return out.to(x.dtype)
