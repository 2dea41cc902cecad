import torch


def apply_rope(x, positions, base=10000.0):
    half = x.shape[-1] // 2
    freq = base ** (-2 * torch.arange(half, device=x.device).float() / x.shape[-1])
    angle = positions.float().unsqueeze(1) * freq
    cos, sin = torch.cos(angle), torch.sin(angle)
    a, b = x.float().split(half, dim=-1)
    a = a * cos - b * sin
    b = a * sin + b * cos
    return torch.cat([a, b], dim=-1).to(x.dtype)
