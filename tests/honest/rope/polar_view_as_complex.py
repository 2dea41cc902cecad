import torch


def apply_rope(x, positions, base=10000.0):
    D = x.shape[-1]
    freqs = torch.logspace(0, -(D - 2) / D, D // 2, base=base, dtype=torch.float64)
    turn = torch.polar(torch.ones((), dtype=torch.float64), positions[:, None] * freqs)
    z = x.double().unflatten(-1, (2, D // 2)).transpose(-1, -2).contiguous()
    z = torch.view_as_real(torch.view_as_complex(z) * turn)
    return z.transpose(-1, -2).reshape(x.shape).to(x.dtype)
