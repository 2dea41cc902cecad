import torch


def apply_rope(x, positions, base=10000.0):
    """One D x D rotation a token."""
    D = x.shape[-1]
    half = D // 2
    theta = torch.tensor([base ** (-2 * i / D) for i in range(half)], dtype=torch.float64)
    angle = positions.double()[:, None] * theta
    c, s = torch.diag_embed(angle.cos()), torch.diag_embed(angle.sin())
    R = torch.cat([torch.cat([c, -s], 2), torch.cat([s, c], 2)], 1)
    return torch.einsum("tij,bhtj->bhti", R, x.double()).to(x.dtype)
