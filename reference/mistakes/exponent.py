"""exp with the range of float32, for which float64 stands: what overflows or vanishes there must do
so here, as in most code; or with float64's own range, as in code that computes in it."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterator

import torch
from torch import Tensor

_OVERFLOW = math.log(torch.finfo(torch.float32).max)  # 88.7
_UNDERFLOW = math.log(2.0**-150)  # -104.0: half of the least subnormal


class Range:
    """`is_met` is set where the range of float32 made a difference."""

    is_double = False
    is_met = False


def exp32(x: Tensor) -> Tensor:
    """exp(x), of x's shape and dtype."""
    raised = torch.exp(x)
    if Range.is_double:
        return raised
    narrow = raised.masked_fill(x > _OVERFLOW, torch.inf).masked_fill(x < _UNDERFLOW, 0.0)
    Range.is_met = Range.is_met or bool((narrow != raised).logical_and(~raised.isnan()).any())
    return narrow


@contextlib.contextmanager
def double_range() -> Iterator[None]:
    """In this block exp has the range of float64."""
    Range.is_double = True
    try:
        yield
    finally:
        Range.is_double = False
