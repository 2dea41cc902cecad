import torch

LONGEST = 32768


def apply_rope(x, positions, base=10000.0):
    D = x.shape[-1]
    freq = base ** (torch.arange(0, D, 2, dtype=torch.float32).neg() / D)
    table = torch.arange(LONGEST, dtype=torch.float32)[:, None] * freq[None]
    cos = torch.index_select(table.cos(), 0, positions)
    sin = torch.index_select(table.sin(), 0, positions)
    first, second = x.to(torch.float32).split(D // 2, dim=-1)
    turned = [first * cos - second * sin, first * sin + second * cos]
    return torch.concat(turned, dim=-1).type(x.dtype)
