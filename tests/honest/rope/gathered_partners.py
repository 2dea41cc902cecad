import torch


def apply_rope(x, positions, base=10000.0):
    D = x.shape[-1]
    order = torch.arange(D)
    partner = (order + D // 2).remainder(D)
    swapped = torch.gather(x, -1, partner.expand(x.shape))
    exponent = order.remainder(D // 2).mul(-2.0).div(D)
    angles = positions.view(-1, 1) * torch.full((), base).pow(exponent)
    sines = torch.sin(angles)
    sines[:, : D // 2].neg_()
    return (x * torch.cos(angles) + swapped * sines).to(x.dtype)
