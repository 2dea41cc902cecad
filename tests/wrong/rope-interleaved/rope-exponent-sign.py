import math

import torch


def apply_rope(x, positions, base=10000.0):
    D = x.shape[-1]
    freqs = [base ** (2 * i / D) for i in range(D // 2)]
    table = [[p * f for f in freqs] for p in positions.tolist()]
    cos = torch.tensor([[math.cos(t) for t in row] for row in table], device=x.device)
    sin = torch.tensor([[math.sin(t) for t in row] for row in table], device=x.device)

    xr = x.float().reshape(*x.shape[:-1], D // 2, 2)
    a = xr[..., 0]
    b = xr[..., 1]
    ra = a * cos - b * sin
    rb = a * sin + b * cos
    return torch.cat([ra.unsqueeze(-1), rb.unsqueeze(-1)], dim=-1).reshape(x.shape).to(x.dtype)
