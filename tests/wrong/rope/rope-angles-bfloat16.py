import torch


def apply_rope(x, positions, base=10000.0):
    half = x.shape[-1] // 2
    freq = base ** (-torch.arange(half, device=x.device, dtype=torch.float32) / half)
    theta = torch.outer(positions.to(torch.bfloat16), freq.to(torch.bfloat16))
    cos, sin = theta.float().cos(), theta.float().sin()
    a, b = x.split(half, dim=-1)
    return torch.cat((a * cos - b * sin, a * sin + b * cos), dim=-1).to(x.dtype)
