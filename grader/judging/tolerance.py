"""How far a right answer may lie from the oracle, entry by entry.

A fixed number is wrong for every second case, so rounding is measured: the same mathematics,
written in several orders, runs in the submission's dtype, and its distance from the float64
oracle is the yardstick. (The idea of a tolerance relative to a same-dtype baseline is that of
the tests of FlashAttention.)
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

FACTOR = 4.0
"""Times the worst baseline error. Measured on 34 right answers in as many styles, 40 seeds each:
none reaches a third of a tolerance on its values but those that add an epsilon (0.6) and
log-space in bfloat16 (0.5)."""

FLOOR = 1.0
"""c of the floor c * eps * max|expected| * sqrt(reduction): the baselines may agree by luck."""

NORMALISER = 2e-6
"""Relative: an epsilon of up to 1e-6 in a normaliser is no fault, and the normaliser is at least
1; twice that, for what an output projection makes of it."""

GRADIENT = 8.0
"""Times the tolerance of a value. exp(s - logsumexp(s)) is right, and its backward pass loses up to
10 times what others lose, for its weights do not sum to one exactly (2.6 tolerances without this).
A wrong gradient is off by far more: thousands."""


def graded_dtype(dtype: torch.dtype) -> torch.dtype:
    """float64 inputs are graded at float32's tolerance: float32 inside is precise enough."""
    return torch.float32 if dtype == torch.float64 else dtype


def allowed(
    expected: Tensor,
    baselines: list[Tensor],
    dtype: torch.dtype,
    reduction: int,
    gradients: float | None = None,
) -> Tensor:
    """The largest |error| that each entry may have, float64, of the shape of `expected`.

    expected   the oracle, float64 (bool and integers allow nothing)
    baselines  the same-dtype answers, of the same shape, any floating dtype
    reduction  the length of the longest sum
    gradients  where this is a gradient, which is graded more loosely: the largest entry of all of
               the case's gradients. An epsilon in the normaliser leaves that much of it in one
               that cancels to exactly zero, as the query's does for a single token
    """
    if not expected.is_floating_point():
        return torch.zeros(expected.shape, dtype=torch.float64)
    dtype = graded_dtype(dtype)
    unit = FLOOR * torch.finfo(dtype).eps * math.sqrt(max(reduction, 1)) + NORMALISER
    finite = torch.where(expected.isfinite(), expected, 0.0)
    errors = torch.stack([_error(baseline, expected) for baseline in baselines])
    if gradients is not None:
        # One bound for all: where a gradient cancels to zero, a right answer leaves rounding.
        own = FACTOR * _largest(errors) + unit * _largest(finite.abs())
        bound = GRADIENT * (own + NORMALISER * gradients)
        return torch.full(expected.shape, bound, dtype=torch.float64)
    return _by_rows(finite.abs(), errors.amax(0), unit)


def _largest(value: Tensor) -> float:
    return float(value.max()) if value.numel() else 0.0


def _by_rows(size: Tensor, error: Tensor, unit: float) -> Tensor:
    """One bound for the whole output would let the largest row excuse any error in a small one.

    A row (along the last axis) is bound by its own size, times the worst relative error of any
    row, but by no more than the largest error anywhere, and no less than its own baselines' error:
    a row where large terms cancel is small and yet as inexact as the others.
    """
    if size.numel() == 0 or size.dim() == 0:
        return FACTOR * error + unit * size
    row_size = size.amax(-1, keepdim=True)
    row_error = error.amax(-1, keepdim=True)
    everywhere = FACTOR * row_error.max() + unit * row_size.max()
    relative = torch.where(row_size > 0, row_error / row_size, 0.0).max()
    by_size = row_size * (FACTOR * relative + unit)
    own = FACTOR * row_error + unit * row_size
    bound = torch.maximum(own, torch.minimum(everywhere, by_size))
    return bound.expand(size.shape).contiguous()


def _error(baseline: Tensor, expected: Tensor) -> Tensor:
    """|baseline - expected|; where either is not finite the floor alone counts."""
    error = (baseline.double() - expected).abs()
    return torch.where(error.isfinite(), error, 0.0)
