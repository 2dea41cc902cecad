import torch


def inverse_frequencies(dim, theta=10000.0):
    return theta ** (-torch.arange(0, dim, 2, dtype=torch.float32) / dim)


def apply_rope(x, positions, base=10000.0):
    D = x.shape[-1]
    freq = inverse_frequencies(D).to(x.device)
    angle = positions.float()[:, None] * freq
    y = x.float().unflatten(-1, (2, D // 2))
    a, b = y[..., 0, :], y[..., 1, :]
    cos, sin = angle.cos(), angle.sin()
    return torch.stack((a * cos - b * sin, a * sin + b * cos), -2).flatten(-2).to(x.dtype)
