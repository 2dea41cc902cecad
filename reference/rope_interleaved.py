"""Rotary position embedding, interleaved pairing.

Source: Su et al., "RoFormer" (2021), section 3.2.2, equations 15 and 34, which pair
neighbours.
"""

from __future__ import annotations

import torch
from torch import Tensor

from reference.rope import rope_angles


def apply_rope(x: Tensor, positions: Tensor, base: float = 10000.0) -> Tensor:
    """Rotate pair (2i, 2i + 1) of each vector counter-clockwise by position * base^(-2i/D).

    x (B, H, T, D), any float dtype, D even; positions (T,) int64, 0 to 32,767, in any order.
    Returns the shape and dtype of x.
    """
    angles = rope_angles(positions, x.shape[-1], base, x.dtype)  # (T, D/2)
    cos, sin = angles.cos().to(x.dtype), angles.sin().to(x.dtype)  # (T, D/2)
    a, b = x[..., 0::2], x[..., 1::2]  # (B, H, T, D/2)
    turned = torch.stack([a * cos - b * sin, a * sin + b * cos], dim=-1)  # (B, H, T, D/2, 2)
    return turned.flatten(start_dim=-2)  # (B, H, T, D)
