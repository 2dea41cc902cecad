import torch


def apply_rope(x, positions, base=10000.0):
    half = x.shape[-1] // 2
    work = x.double()
    z = torch.complex(work[..., :half], work[..., half:])
    exponents = torch.arange(half, dtype=torch.float64) * 2 / x.shape[-1]
    theta = torch.outer(positions.to(torch.float64), 1.0 / (base**exponents))
    z = z * torch.polar(torch.ones_like(theta), theta)
    return torch.cat([z.real, z.imag], -1).to(x.dtype)
