import torch


def apply_rope(x, positions, base=10000.0):
    D = x.size(-1)
    inv_freq = (1.0 / base ** (torch.arange(0, D, 2, device=x.device) / D)).to(x.dtype)
    angles = positions.to(x.dtype).unsqueeze(1) * inv_freq
    cos = torch.cat((angles.cos(), angles.cos()), -1)
    sin = torch.cat((angles.sin(), angles.sin()), -1)
    turned = torch.cat((-x[..., D // 2 :], x[..., : D // 2]), -1)
    return x * cos + turned * sin
