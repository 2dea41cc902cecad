"""The family of `stable-softmax`."""

from __future__ import annotations

import torch
from torch import Tensor

from reference.mistakes.core import Mistakes
from reference.mistakes.exponent import exp32


def softmax(
    x: Tensor,
    dim: int = -1,
    *,
    shift: str = "max",
    axis: str = "given",
    hidden_rows: str = "zero",
    epsilon: float = 0.0,
    returned: str = "weights",
    inf: str = "hidden",
) -> Tensor:
    """Softmax along `dim`, any shape.

    shift        what is subtracted: max; none; whole: the max of the whole tensor; none-zero and
                 whole-zero: the same, and a sum of 0 read as 1; absolute (max of |x|) or mean, and
                 both of the finite entries alone: absolute-finite, mean-finite
    axis         given, last, first, or all: what is normalised
    hidden_rows  what a row of -inf gives: zero, nan, or uniform
    epsilon      added to the normaliser
    returned     weights, log (their logarithm), or exp (not normalised)
    inf          hidden; zero: -inf read as the logit 0; or zero-in-part: in rows that hold others
    """
    if inf == "zero":
        x = x.masked_fill(x == -torch.inf, 0.0)
    dims = {"given": (dim,), "last": (-1,), "first": (0,), "all": tuple(range(x.ndim))}[axis]
    empty = torch.all(x == -torch.inf, dim=dims, keepdim=True)  # one entry a row
    if inf == "zero-in-part":
        x = x.masked_fill(x == -torch.inf, 0.0)
    finite = x.isfinite()
    known = x.masked_fill(~finite, 0.0)
    shifted = {
        "max": lambda: x - x.amax(dim=dims, keepdim=True),
        "none": lambda: x,
        "whole": lambda: x - x.max(),
        "whole-zero": lambda: x - x.max(),
        "absolute": lambda: x - x.abs().amax(dim=dims, keepdim=True),
        "mean": lambda: x - x.mean(dim=dims, keepdim=True),
        "none-zero": lambda: x,
        "absolute-finite": lambda: x - known.abs().amax(dim=dims, keepdim=True),
        "mean-finite": lambda: x - known.sum(dim=dims, keepdim=True) / finite.sum(dims, True),
    }[shift]()
    raised = exp32(shifted)
    total = raised.sum(dim=dims, keepdim=True) + epsilon
    if shift in ("none-zero", "whole-zero"):
        total = total.masked_fill(total == 0.0, 1.0)
    out = {
        "weights": lambda: raised / total,
        "log": lambda: shifted - total.log(),
        "exp": lambda: raised,
    }[returned]()
    if hidden_rows == "uniform":
        count = torch.ones_like(x).sum(dim=dims, keepdim=True)
        return torch.where(empty, 1.0 / count, out)
    fill = torch.nan if hidden_rows == "nan" else 0.0
    return out.masked_fill(empty, fill)


MISTAKES: Mistakes = {
    "softmax": {
        "softmax-overflow": {"shift": "none"},
        "softmax-overflow-zero": {"shift": "none-zero"},
        "softmax-global-max": {"shift": "whole"},
        "softmax-global-max-zero": {"shift": "whole-zero"},
        "softmax-absolute-max": {"shift": "absolute"},
        "softmax-absolute-max-finite": {"shift": "absolute-finite"},
        "softmax-mean-subtracted": {"shift": "mean"},
        "softmax-mean-subtracted-finite": {"shift": "mean-finite"},
        "softmax-last-dim": {"axis": "last"},
        "softmax-first-dim": {"axis": "first"},
        "softmax-over-whole-tensor": {"axis": "all"},
        "all-hidden-nan": {"hidden_rows": "nan"},
        "all-hidden-uniform": {"hidden_rows": "uniform"},
        "softmax-large-epsilon": {"epsilon": 1e-3},
        "softmax-log-returned": {"returned": "log"},
        "softmax-not-normalised": {"returned": "exp"},
        "softmax-inf-as-zero": {"inf": "zero"},
        "softmax-inf-as-zero-in-part": {"inf": "zero-in-part"},
    }
}
