"""Other ways to write rotary embedding. Angles are float32 whatever the input, as in most code:
float64 inputs are graded at float32's tolerance, and this is its measure."""

from __future__ import annotations

import math
from collections.abc import Callable

import torch
from torch import Tensor

Rotate = Callable[[Tensor, Tensor, float], Tensor]


def _angles(positions: Tensor, frequency: Tensor) -> Tensor:
    return torch.outer(positions.to(torch.float32), frequency)  # (T, D/2)


def rope_complex(x: Tensor, positions: Tensor, base: float = 10000.0) -> Tensor:
    """A pair as a complex number, turned by exp(i angle); bfloat16 has no complex form, so its
    products are written out."""
    half = x.shape[-1] // 2
    exponent = torch.arange(0, x.shape[-1], 2, device=x.device).to(torch.float32) / x.shape[-1]
    angles = _angles(positions, 1.0 / base**exponent)  # (T, D/2)
    turn = torch.polar(torch.ones_like(angles), angles)  # (T, D/2)
    real, imaginary = x[..., :half], x[..., half:]  # (B, H, T, D/2)
    if x.dtype == torch.bfloat16:
        c, s = turn.real.to(x.dtype), turn.imag.to(x.dtype)  # (T, D/2)
        return torch.cat([real * c - imaginary * s, imaginary * c + real * s], dim=-1)
    turned = torch.complex(real, imaginary) * turn  # (B, H, T, D/2)
    return torch.cat([turned.real, turned.imag], dim=-1)  # (B, H, T, D)


def rope_rotate_half(x: Tensor, positions: Tensor, base: float = 10000.0) -> Tensor:
    """x cos + rotate_half(x) sin, with the table written twice over."""
    pair = torch.arange(x.shape[-1] // 2, device=x.device, dtype=torch.float32)  # (D/2,)
    angles = _angles(positions, torch.exp(-math.log(base) * 2.0 * pair / x.shape[-1]))
    table = torch.cat([angles, angles], dim=-1)  # (T, D)
    a, b = torch.tensor_split(x, 2, dim=-1)  # (B, H, T, D/2)
    rotated = torch.cat([-b, a], dim=-1)  # (B, H, T, D)
    return x * torch.cos(table).to(x.dtype) + rotated * torch.sin(table).to(x.dtype)


def rope_stacked(x: Tensor, positions: Tensor, base: float = 10000.0) -> Tensor:
    """Halves on an axis of their own; frequencies as a geometric series, angles within a turn."""
    ratio = base ** (-2.0 / x.shape[-1])
    frequency = torch.tensor([ratio**i for i in range(x.shape[-1] // 2)], device=x.device)
    angles = _angles(positions, frequency.to(torch.float32)).remainder(2 * math.pi)  # (T, D/2)
    c, s = torch.cos(angles).to(x.dtype), torch.sin(angles).to(x.dtype)  # (T, D/2)
    halves = x.reshape(*x.shape[:-1], 2, -1)  # (B, H, T, 2, D/2)
    a, b = halves.unbind(dim=-2)  # (B, H, T, D/2)
    return torch.stack([c * a - s * b, s * a + c * b], dim=-2).flatten(start_dim=-2)


def rope_matrix(x: Tensor, positions: Tensor, base: float = 10000.0) -> Tensor:
    """A 2 x 2 rotation matrix for each position and pair."""
    pair = torch.arange(x.shape[-1] // 2, device=x.device, dtype=torch.float32)  # (D/2,)
    angles = _angles(positions, torch.pow(base, pair * (-2.0 / x.shape[-1])))  # (T, D/2)
    c, s = angles.cos().to(x.dtype), angles.sin().to(x.dtype)  # (T, D/2)
    matrix = torch.stack([torch.stack([c, -s]), torch.stack([s, c])])  # (2, 2, T, D/2)
    pairs = x.reshape(*x.shape[:-1], 2, -1)  # (B, H, T, 2, D/2)
    return torch.einsum("ijtp,bhtjp->bhtip", matrix, pairs).flatten(start_dim=-2)
