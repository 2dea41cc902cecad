"""The family of `merge-attention`."""

from __future__ import annotations

import math

import torch
from torch import Tensor
from torch.nn.functional import softplus

from reference.mistakes.core import Mistakes
from reference.mistakes.exponent import exp32


def _lse(how: str, lse_a: Tensor, lse_b: Tensor, m: Tensor, total: Tensor, base: float) -> Tensor:
    """The returned log-sum-exp (B, H, T), where `total` is measured against m."""
    if how == "mixed":
        share_b = exp32((lse_b - m) * base) / total
        return (1 - share_b) * lse_a + share_b * lse_b
    return {
        "right": lambda: m + total.log() / base,
        "added": lambda: lse_a + lse_b,
        "maximum": lambda: torch.maximum(lse_a, lse_b),
        "mean": lambda: (lse_a + lse_b) / 2,
        "without-maximum": lambda: total.log() / base,
        "without-log": lambda: m + total,
        "log2": lambda: m + total.log2(),
        "first": lambda: lse_a,
        "one-sided": lambda: lse_a + torch.log(1 + exp32(lse_b - lse_a)),
        "one-sided-softplus": lambda: lse_a + softplus(lse_b - lse_a),
    }[how]()


def merge_attention(
    o_a: Tensor,
    lse_a: Tensor,
    o_b: Tensor,
    lse_b: Tensor,
    *,
    empty: str = "-inf",
    exponent: str = "e",
    shift: str = "row",
    mix: str = "right",
    returned: str = "right",
) -> tuple[Tensor, Tensor]:
    """Two partial results merged; as the reference.

    empty     the lse of a part that saw no key: -inf; or zero, put in its place
    exponent  e; or two: exp2 and log2
    shift     what is subtracted before exp: row (the larger of both); first, second; none; or all
              (one for all)
    mix       right; averaged; added; unnormalised; exchanged; linear (the lse as weights);
              larger (one part alone); or added-lse (relative to lse_a + lse_b)
    returned  see `_lse`
    """
    if empty == "zero":
        lse_a, lse_b = (lse.masked_fill(lse == -torch.inf, 0.0) for lse in (lse_a, lse_b))
    base = math.log(2) if exponent == "two" else 1.0
    larger = torch.maximum(lse_a, lse_b)  # (B, H, T)
    m = {
        "row": larger,
        "first": lse_a,
        "second": lse_b,
        "none": torch.zeros_like(larger),
        "all": larger.max().expand_as(larger),
    }[shift]  # (B, H, T)
    raised_a, raised_b = exp32((lse_a - m) * base), exp32((lse_b - m) * base)  # (B, H, T)
    total = raised_a + raised_b  # (B, H, T)
    weight_a, weight_b, divisor = {
        "right": (raised_a, raised_b, total),
        "averaged": (torch.ones_like(total), torch.ones_like(total), torch.full_like(total, 2.0)),
        "added": (torch.ones_like(total), torch.ones_like(total), torch.ones_like(total)),
        "unnormalised": (raised_a, raised_b, torch.ones_like(total)),
        "exchanged": (raised_b, raised_a, total),
        "linear": (lse_a, lse_b, lse_a + lse_b),
        "larger": ((lse_a >= lse_b).to(m.dtype), (lse_a < lse_b).to(m.dtype), m.new_ones(())),
        "added-lse": (
            exp32(lse_a - (lse_a + lse_b)),
            exp32(lse_b - (lse_a + lse_b)),
            m.new_ones(()),
        ),
    }[mix]
    out = weight_a[..., None] * o_a + weight_b[..., None] * o_b  # (B, H, T, D)
    lse = _lse("added" if mix == "added-lse" else returned, lse_a, lse_b, m, total, base)
    return out / divisor[..., None], lse


MISTAKES: Mistakes = {
    "merge_attention": {
        "merge-lse-added": {"returned": "added"},
        "merge-weights-from-added-lse": {"mix": "added-lse", "returned": "added"},
        "merge-lse-maximum": {"returned": "maximum"},
        "merge-lse-mean": {"returned": "mean"},
        "merge-lse-mixed": {"returned": "mixed"},
        "merge-lse-without-maximum": {"returned": "without-maximum"},
        "merge-lse-without-log": {"returned": "without-log"},
        "merge-lse-log2": {"returned": "log2"},
        "merge-lse-of-first": {"returned": "first"},
        "merge-outputs-averaged": {"mix": "averaged"},
        "merge-outputs-added": {"mix": "added"},
        "merge-unnormalised": {"mix": "unnormalised"},
        "merge-weights-exchanged": {"mix": "exchanged"},
        "merge-weights-linear": {"mix": "linear"},
        "merge-larger-taken": {"mix": "larger"},
        "merge-overflow": {"shift": "none"},
        "merge-shifted-by-first": {"shift": "first"},
        "merge-shifted-by-second": {"shift": "second"},
        "merge-one-sided": {"returned": "one-sided"},
        "merge-one-sided-softplus": {"returned": "one-sided-softplus"},
        "merge-empty-as-zero": {"empty": "zero"},
        "merge-base-two": {"exponent": "two"},
        "merge-max-over-rows": {"shift": "all"},
    }
}
