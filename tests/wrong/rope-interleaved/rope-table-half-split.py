import torch


def rotate_every_two(x):
    x1 = x[..., ::2]
    x2 = x[..., 1::2]
    return torch.stack((-x2, x1), dim=-1).flatten(-2)


def sincos(positions, dim, base):
    inv_freq = 1.0 / (base ** (torch.arange(0, dim, 2, device=positions.device) / dim))
    angles = torch.einsum("i,j->ij", positions.float(), inv_freq)
    table = torch.cat((angles, angles), dim=-1)
    return table.sin(), table.cos()


def apply_rope(x, positions, base=10000.0):
    sin, cos = sincos(positions, x.shape[-1], base)
    y = x.float()
    y = y * cos + rotate_every_two(y) * sin
    return y.type_as(x)
