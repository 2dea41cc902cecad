"""The state of an online softmax with its weighted sum: what a fused kernel keeps for each row.

Source: Dao et al., "FlashAttention" (2022), section 3.1: two sets of keys join by rescaling both to
the larger maximum.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor


class Running(NamedTuple):
    """After some of the keys, for any leading axes: one row of the state a query.

    m      (..., 1)  the highest score so far, -inf before the first key
    total  (..., 1)  the sum of exp(score - m)
    out    (..., D)  the sum of exp(score - m) times the values, not divided yet
    """

    m: Tensor
    total: Tensor
    out: Tensor


def empty(q: Tensor) -> Running:
    """The state before the first key, for queries (..., D)."""
    m = torch.full_like(q[..., :1], -torch.inf)  # (..., 1)
    return Running(m, torch.zeros_like(m), torch.zeros_like(q))


def absorb(state: Running, scores: Tensor, values: Tensor) -> Running:
    """The state after one more block of keys.

    scores (..., rows, block), -inf where hidden; values (..., block, D). Every row must have seen a
    key by now, or see one in this block: -inf - -inf would be NaN.
    """
    m = torch.maximum(state.m, scores.amax(dim=-1, keepdim=True))  # (..., rows, 1)
    # What was summed so far was measured against the old maximum.
    factor = torch.exp(state.m - m)  # (..., rows, 1), at most 1
    weights = torch.exp(scores - m)  # (..., rows, block)
    total = state.total * factor + weights.sum(dim=-1, keepdim=True)  # (..., rows, 1)
    return Running(m, total, state.out * factor + weights @ values)
