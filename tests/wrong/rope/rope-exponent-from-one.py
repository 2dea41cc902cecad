import torch


def apply_rope(x, positions, base=10000.0):
    D = x.shape[-1]
    cols = []
    for i in range(1, D // 2 + 1):
        angle = positions.double() * base ** (-2 * i / D)
        a, b = x[..., i - 1].double(), x[..., i - 1 + D // 2].double()
        cols.append((a * angle.cos() - b * angle.sin(), a * angle.sin() + b * angle.cos()))
    first, second = zip(*cols)
    return torch.stack(first + second, dim=-1).to(x.dtype)
