import cmath

import torch


def _power(unit, n):
    """unit ** n for a tensor of whole numbers, by squaring."""
    result = torch.ones(n.shape, dtype=torch.complex128)
    square = unit
    while bool(n.any()):
        result = torch.where(n % 2 == 1, result * square, result)
        square = square * square
        n = n // 2
    return result


def apply_rope(x, positions, base=10000.0):
    D = x.shape[-1]
    units = [cmath.exp(1j * base ** (-2 * i / D)) for i in range(D // 2)]
    turn = torch.stack([_power(torch.tensor(u, dtype=torch.complex128), positions) for u in units], -1)
    pairs = torch.complex(x[..., : D // 2].double(), x[..., D // 2 :].double()) * turn
    return torch.cat([pairs.real, pairs.imag], -1).to(x.dtype)
