import torch


def _half_split(x, cos, sin):
    a, b = x.chunk(2, dim=-1)
    return torch.cat([a * cos - b * sin, b * cos + a * sin], dim=-1)


def apply_rope(x, positions, base=10000.0):
    """Gather the evens before the odds, rotate halves, scatter back."""
    D = x.shape[-1]
    order = torch.cat([torch.arange(0, D, 2), torch.arange(1, D, 2)])
    back = torch.argsort(order)
    inv = torch.reciprocal(base ** (torch.arange(0, D, 2, dtype=torch.float32) / D))
    ang = torch.einsum("i,j->ij", positions.float(), inv)
    y = _half_split(x.index_select(-1, order).float(), ang.cos(), ang.sin())
    return y[..., back].type_as(x)
