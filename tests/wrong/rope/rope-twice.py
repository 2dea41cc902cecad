import torch


def rotate(x, cos, sin):
    a, b = x.chunk(2, dim=-1)
    return torch.cat((a * cos - b * sin, a * sin + b * cos), dim=-1)


def apply_rope(x, positions, base=10000.0):
    D = x.shape[-1]
    freq = base ** (torch.arange(D // 2, device=x.device).double() * (-2.0 / D))
    angle = torch.einsum("t,f->tf", positions.double(), freq)
    y = x.double()
    for _ in range(2):
        y = rotate(y, angle.cos(), angle.sin())
    return y.to(x.dtype)
