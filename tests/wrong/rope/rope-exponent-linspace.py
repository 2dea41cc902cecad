import torch


def apply_rope(x, positions, base=10000.0):
    half = x.size(-1) // 2
    exponent = torch.linspace(0.0, 1.0, half, dtype=torch.float64, device=x.device)
    theta = positions.double().outer(base**-exponent)
    rot = torch.polar(torch.ones_like(theta), theta)
    z = torch.complex(*x.double().split(half, dim=-1)) * rot
    return torch.cat([z.real, z.imag], -1).to(x.dtype)
