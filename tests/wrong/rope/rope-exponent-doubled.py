import torch


def apply_rope(x, positions, base=10000.0):
    D = x.shape[-1]
    even = torch.arange(0, D, 2, device=x.device).float()
    freq = 1.0 / (base ** (2 * even / D))
    angle = positions.float()[:, None] * freq[None, :]
    angle = torch.cat([angle, angle], dim=-1)
    y = x.float()
    partner = torch.cat([-y[..., D // 2 :], y[..., : D // 2]], dim=-1)
    return (y * torch.cos(angle) + partner * torch.sin(angle)).to(x.dtype)
