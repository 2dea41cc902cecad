import torch


def apply_rope(x, positions, base=10000.0):
    D = x.shape[-1]
    inv = base ** (-torch.arange(0, D, 2, device=x.device).float() / D)
    angles = (positions.float().unsqueeze(1) * inv).to(x.dtype)
    cos = torch.cat((angles, angles), -1).cos()
    sin = torch.cat((angles, angles), -1).sin()
    a, b = x.chunk(2, dim=-1)
    return x * cos + torch.cat((-b, a), dim=-1) * sin
