from functools import lru_cache

import torch


@lru_cache(maxsize=16)
def tables(length, width, base, dtype, device):
    """cos and sin for positions 0 .. length - 1, each (length, width / 2)."""
    freq = torch.pow(
        torch.tensor(base, dtype=dtype, device=device),
        -torch.arange(0, width, 2, dtype=dtype, device=device) / width,
    )
    angle = torch.arange(length, dtype=dtype, device=device)[:, None] * freq
    return torch.cos(angle), torch.sin(angle)


def apply_rope(x, positions, base=10000.0):
    inner = torch.float64 if x.dtype == torch.float64 else torch.float32
    # rounding the length up lets calls with nearby positions share one table
    length = 256 * (int(positions.max()) // 256 + 1)
    cos, sin = tables(length, x.shape[-1], float(base), inner, x.device)
    cos, sin = cos[positions], sin[positions]
    a, b = x.to(inner).unflatten(-1, (-1, 2)).unbind(-1)
    rotated = torch.stack([a * cos - b * sin, b * cos + a * sin], -1)
    return rotated.view(x.shape).to(x.dtype)
