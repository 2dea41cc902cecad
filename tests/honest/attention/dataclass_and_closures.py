from __future__ import annotations

import dataclasses
from collections.abc import Callable

import torch
from torch import Tensor


@dataclasses.dataclass(frozen=True)
class Scores:
    values: Tensor
    visible: Tensor | None

    def weights(self) -> Tensor:
        if self.visible is None:
            return self.values.softmax(dim=-1)
        hidden = ~self.visible
        w = self.values.masked_fill(hidden, -1e30).softmax(dim=-1)
        return w.masked_fill(hidden, 0.0)


def _scorer(k: Tensor) -> Callable[[Tensor], Tensor]:
    scale = k.shape[-1] ** -0.25

    def score(q: Tensor) -> Tensor:
        return (q * scale) @ (k * scale).transpose(-2, -1)

    return score


def attention(q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None = None) -> Tensor:
    compute = torch.float64
    scores = Scores(_scorer(k.to(compute))(q.to(compute)), mask)
    return (scores.weights() @ v.to(compute)).to(q.dtype)
