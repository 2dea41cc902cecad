import torch


def apply_rope(x, positions, base=10000.0):
    D = x.shape[-1]
    left, right = [], []
    for i in range(D // 2):
        phi = positions.to(torch.float64) * base ** (-2 * i / D)
        c, s = torch.cos(phi).to(x.dtype), torch.sin(phi).to(x.dtype)
        a, b = x[..., i], x[..., i + D // 2]
        left.append(a * c - b * s)
        right.append(a * s + b * c)
    return torch.stack(left + right, dim=-1)
