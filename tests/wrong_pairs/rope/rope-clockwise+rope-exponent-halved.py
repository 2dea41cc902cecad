import torch


def apply_rope(x, positions, base=10000.0):
    D = x.shape[-1]
    i = torch.arange(D // 2, dtype=torch.float64, device=x.device)
    theta = positions.double()[:, None] * base ** (-i / D)
    cos, sin = theta.cos(), theta.sin()
    a, b = x[..., : D // 2].double(), x[..., D // 2 :].double()
    return torch.cat((a * cos + b * sin, b * cos - a * sin), dim=-1).to(x.dtype)
