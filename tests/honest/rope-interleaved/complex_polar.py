import torch


def apply_rope(x, positions, base=10000.0):
    # pairs (x0, x1), (x2, x3), ... are complex numbers; turning them is one multiplication
    real = x if x.dtype in (torch.float32, torch.float64) else x.float()
    D = x.shape[-1]
    freqs = 1.0 / base ** (torch.arange(0, D, 2, dtype=real.dtype, device=x.device) / D)
    angles = torch.outer(positions.to(real.dtype), freqs)
    turn = torch.polar(torch.ones_like(angles), angles)
    z = torch.view_as_complex(real.reshape(*x.shape[:-1], D // 2, 2))
    return torch.view_as_real(z * turn).flatten(-2).to(x.dtype)
