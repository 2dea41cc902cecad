import math

import torch


def apply_rope(x, positions, base=10000.0):
    D = x.shape[-1]
    i = torch.arange(D // 2, device=x.device).double()
    freq = torch.exp(-i * math.log(base) / D)
    angle = positions.double()[:, None] * freq
    a, b = x[..., : D // 2], x[..., D // 2 :]
    cos, sin = angle.cos().to(torch.float32), angle.sin().to(torch.float32)
    return torch.cat([a * cos - b * sin, b * cos + a * sin], dim=-1).to(x.dtype)
