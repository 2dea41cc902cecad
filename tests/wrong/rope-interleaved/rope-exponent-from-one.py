import math

import torch


def apply_rope(x, positions, base=10000.0):
    D = x.shape[-1]
    pos = positions.to(torch.float32)
    columns = []
    for i in range(1, D // 2 + 1):
        freq = math.pow(base, -2 * i / D)
        angle = pos * freq
        c = torch.cos(angle)
        s = torch.sin(angle)
        a = x[..., 2 * i - 2].float()
        b = x[..., 2 * i - 1].float()
        columns.append(a * c - b * s)
        columns.append(a * s + b * c)
    return torch.stack(columns, dim=-1).to(x.dtype)
