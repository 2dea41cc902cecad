"""Other ways to write interleaved rotary embedding. Angles are float32 whatever the input, as in
most code: float64 inputs are graded at float32's tolerance, and this is its measure."""

from __future__ import annotations

import math

import torch
from torch import Tensor


def _angles(positions: Tensor, frequency: Tensor) -> Tensor:
    return torch.outer(positions.to(torch.float32), frequency.to(torch.float32))  # (T, D/2)


def rope_interleaved_complex(x: Tensor, positions: Tensor, base: float = 10000.0) -> Tensor:
    """Neighbours as one complex number, turned by exp(i angle); bfloat16 has no complex form, so
    its products are written out."""
    exponent = torch.arange(0, x.shape[-1], 2, device=x.device).to(torch.float32) / x.shape[-1]
    angles = _angles(positions, 1.0 / base**exponent)  # (T, D/2)
    turn = torch.polar(torch.ones_like(angles), angles)  # (T, D/2)
    pairs = x.reshape(*x.shape[:-1], -1, 2)  # (B, H, T, D/2, 2)
    if x.dtype == torch.bfloat16:
        c, s = turn.real.to(x.dtype), turn.imag.to(x.dtype)  # (T, D/2)
        real, imaginary = pairs.unbind(dim=-1)  # (B, H, T, D/2)
        turned = [real * c - imaginary * s, imaginary * c + real * s]
        return torch.stack(turned, dim=-1).view(x.shape)  # (B, H, T, D)
    numbers = torch.view_as_complex(pairs.contiguous())  # (B, H, T, D/2)
    return torch.view_as_real(numbers * turn.to(numbers.dtype)).flatten(start_dim=-2)


def rope_interleaved_partners(x: Tensor, positions: Tensor, base: float = 10000.0) -> Tensor:
    """x cos + partner sin, each entry of the table written twice in a row."""
    pair = torch.arange(x.shape[-1] // 2, device=x.device, dtype=torch.float32)  # (D/2,)
    angles = _angles(positions, torch.exp(-math.log(base) * 2.0 * pair / x.shape[-1]))
    table = angles.repeat_interleave(2, dim=-1)  # (T, D)
    swapped = torch.arange(x.shape[-1], device=x.device) ^ 1  # (D,): 1 0 3 2 ...
    sign = torch.tensor([-1.0, 1.0], device=x.device, dtype=x.dtype).repeat(x.shape[-1] // 2)
    partner = x[..., swapped] * sign  # (B, H, T, D)
    return x * torch.cos(table).to(x.dtype) + partner * torch.sin(table).to(x.dtype)


def rope_interleaved_written(x: Tensor, positions: Tensor, base: float = 10000.0) -> Tensor:
    """Into a buffer of its own, by strides; frequencies as a geometric series, angles within a
    turn."""
    ratio = base ** (-2.0 / x.shape[-1])
    frequency = torch.tensor([ratio**i for i in range(x.shape[-1] // 2)], device=x.device)
    angles = _angles(positions, frequency).remainder(2 * math.pi)  # (T, D/2)
    c, s = torch.cos(angles).to(x.dtype), torch.sin(angles).to(x.dtype)  # (T, D/2)
    out = torch.empty_like(x)  # (B, H, T, D)
    out[..., ::2] = c * x[..., ::2] - s * x[..., 1::2]
    out[..., 1::2] = s * x[..., ::2] + c * x[..., 1::2]
    return out


def rope_interleaved_matrix(x: Tensor, positions: Tensor, base: float = 10000.0) -> Tensor:
    """A 2 x 2 rotation matrix for each position and pair."""
    pair = torch.arange(x.shape[-1] // 2, device=x.device, dtype=torch.float32)  # (D/2,)
    angles = _angles(positions, torch.pow(base, pair * (-2.0 / x.shape[-1])))  # (T, D/2)
    c, s = angles.cos().to(x.dtype), angles.sin().to(x.dtype)  # (T, D/2)
    matrix = torch.stack([torch.stack([c, -s]), torch.stack([s, c])])  # (2, 2, T, D/2)
    pairs = x.reshape(*x.shape[:-1], -1, 2)  # (B, H, T, D/2, 2)
    return torch.einsum("ijtp,bhtpj->bhtpi", matrix, pairs).flatten(start_dim=-2)
