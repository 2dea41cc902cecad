import torch


def apply_rope(x, positions, base=10000.0):
    D = x.shape[-1]
    freq = base ** (torch.arange(0, D, 2, dtype=torch.float64, device=x.device) / D)
    angle = positions.to(torch.float64)[:, None] * freq
    cos, sin = torch.cos(angle), torch.sin(angle)
    a, b = x.double().chunk(2, dim=-1)
    return torch.cat((a * cos - b * sin, a * sin + b * cos), dim=-1).to(x.dtype)
