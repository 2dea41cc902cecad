import torch


def apply_rope(x, positions, base=10000.0):
    pairs = x.float().reshape(*x.shape[:-1], -1, 2)
    z = torch.view_as_complex(pairs)
    freq = base ** -torch.linspace(0, 1, z.shape[-1], device=x.device)
    theta = torch.outer(positions.to(torch.float32), freq)
    turn = torch.polar(torch.ones_like(theta), theta)
    return torch.view_as_real(z * turn).reshape(x.shape).to(x.dtype)
