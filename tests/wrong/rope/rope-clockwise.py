import torch


def apply_rope(x, positions, base=10000.0):
    half = x.shape[-1] // 2
    i = torch.arange(half, dtype=torch.float64, device=x.device)
    theta = positions.double().unsqueeze(-1) * base ** (-i / half)
    phase = torch.polar(torch.ones_like(theta), -theta)
    z = torch.complex(x[..., :half].double(), x[..., half:].double()) * phase
    return torch.cat((z.real, z.imag), dim=-1).to(x.dtype)
