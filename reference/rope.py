"""Rotary position embedding, half-split pairing.

Source: Su et al., "RoFormer" (2021), section 3.2.2, equations 15 and 34; the half-split pairing
is that of GPT-NeoX and Llama in Hugging Face's layout.
"""

from __future__ import annotations

import torch
from torch import Tensor


def rope_angles(positions: Tensor, head_width: int, base: float, dtype: torch.dtype) -> Tensor:
    """position * base^(-2i/D) for pair i: (T,) int64 to (T, D/2) in radians.

    float64 where `dtype` is float64, else float32: at position 30,000 a half-precision angle
    is wrong by whole turns.
    """
    angle_dtype = torch.float64 if dtype == torch.float64 else torch.float32
    pair = torch.arange(head_width // 2, device=positions.device, dtype=angle_dtype)  # (D/2,)
    frequency = base ** (-2.0 * pair / head_width)  # (D/2,)
    return positions.to(angle_dtype)[:, None] * frequency  # (T, D/2)


def apply_rope(x: Tensor, positions: Tensor, base: float = 10000.0) -> Tensor:
    """Rotate pair (i, i + D/2) of each vector counter-clockwise by position * base^(-2i/D).

    x (B, H, T, D), any float dtype, D even; positions (T,) int64, 0 to 32,767, in any order.
    Returns the shape and dtype of x.
    """
    angles = rope_angles(positions, x.shape[-1], base, x.dtype)  # (T, D/2)
    cos, sin = angles.cos().to(x.dtype), angles.sin().to(x.dtype)  # (T, D/2)
    a, b = x.chunk(2, dim=-1)  # (B, H, T, D/2)
    return torch.cat([a * cos - b * sin, a * sin + b * cos], dim=-1)  # (B, H, T, D)
