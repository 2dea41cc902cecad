import torch


def apply_rope(x, positions, base=10000.0):
    D = x.shape[-1]
    i = torch.arange(D // 2, dtype=torch.float64, device=x.device)
    theta = positions.double()[:, None] * base ** (-4 * i / D)
    cos, sin = theta.cos(), theta.sin()
    a, b = x[..., ::2].double(), x[..., 1::2].double()
    return torch.stack((a * cos - b * sin, a * sin + b * cos), dim=-1).flatten(-2).to(x.dtype)
