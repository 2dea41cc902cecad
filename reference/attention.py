"""Scaled dot-product attention.

Source: Vaswani et al., "Attention Is All You Need" (2017), section 3.2.1, equation 1.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor


def attention(q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None = None) -> Tensor:
    """softmax(q k^T / sqrt(D)) v, over the keys that each query may attend to.

    q (B, H, T, D), k (B, H, S, D), v (B, H, S, D_v), one float dtype; mask: bool, True where a
    query may attend, broadcasting to (B, H, T, S). Returns (B, H, T, D_v) in the same dtype.
    A row that may attend to nothing is zero.
    """
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])  # (B, H, T, S)
    if mask is None:
        return torch.softmax(scores, dim=-1) @ v  # (B, H, T, D_v)
    sees_any = mask.any(dim=-1, keepdim=True)  # (..., T, 1)
    # Empty rows keep their scores, since a row of -inf would be NaN, forwards and backwards;
    # their weights are then set to zero.
    scores = scores.masked_fill(~mask & sees_any, -torch.inf)
    weights = torch.softmax(scores, dim=-1).masked_fill(~sees_any, 0.0)  # (B, H, T, S)
    return weights @ v  # (B, H, T, D_v)
