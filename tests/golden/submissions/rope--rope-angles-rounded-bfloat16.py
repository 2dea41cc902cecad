import torch


def apply_rope(x, positions, base=10000.0):
    D = x.shape[-1]
    freq = base ** (-torch.arange(0, D, 2, device=x.device).float() / D)
    angle = torch.outer(positions.float(), freq).to(torch.bfloat16)
    cos, sin = angle.float().cos(), angle.float().sin()
    a, b = x.float().chunk(2, dim=-1)
    return torch.cat((a * cos - b * sin, a * sin + b * cos), dim=-1).to(x.dtype)
