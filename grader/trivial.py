"""Answers that need no understanding: none of them may ever be accepted.

Each is a function with the entry's signature, made of the reference for the sake of its shapes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor

from grader.judging.functions import Function, resolve
from grader.judging.oracle import QUERIES

Make = Callable[[Tensor, list[Tensor]], Tensor]
"""Of a right output and the floating inputs of two axes or more."""


def trivial(question: Mapping[str, Any], seed: int) -> dict[str, Function]:
    """The answers by name; noise is drawn from `seed`, afresh at each call of a shape."""
    reference = resolve(question["reference"])
    names = list(question["inputs"])

    def answer(make: Make) -> Function:
        def given(*args: Any, **kwargs: Any) -> Any:
            # The values are the last argument that fits: v in attention(q, k, v).
            floats = _tables([*args, *kwargs.values()])[::-1]
            return _like(reference(*args, **kwargs), lambda right: make(right, floats))

        return given

    found = {
        "zeros": answer(lambda right, _: torch.zeros_like(right)),
        "constant": answer(lambda right, _: torch.full_like(right, _mean(right))),
        "noise": answer(lambda right, _: _noise(right, seed)),
        "identity": answer(_fitted),
        "mean of an input": answer(lambda right, floats: _fitted(right, _means(floats))),
    }
    if any(name in QUERIES for name in names):
        found["mean of the values"] = _blind(reference, names)
    return found


def _blind(reference: Function, names: Sequence[str]) -> Function:
    """The right computation without a query: all scores are 0, so that every visible value has the
    same weight, whatever projections lie around it."""

    def given(*args: Any, **kwargs: Any) -> Any:
        still = [a * 0 if n in QUERIES else a for n, a in zip(names, args, strict=False)]
        return reference(*still, **{n: a * 0 if n in QUERIES else a for n, a in kwargs.items()})

    return given


def _like(right: Any, make: Callable[[Tensor], Tensor]) -> Any:
    """What `make` gives for each value of `right`, in the same kinds of value."""
    if isinstance(right, (tuple, list)):
        return tuple(_like(value, make) for value in right)
    made = make(torch.as_tensor(right).detach())
    return made if isinstance(right, Tensor) else made.numpy()


def _tables(values: Sequence[Any]) -> list[Tensor]:
    """The floating tensors, or arrays, of two axes or more."""
    tensors = [torch.as_tensor(v).detach() for v in values if hasattr(v, "__array__")]
    return [v for v in tensors if v.is_floating_point() and v.dim() >= 2]


def _means(floats: Sequence[Tensor]) -> list[Tensor]:
    return [value.mean(-2, keepdim=True) for value in floats if value.shape[-2]]


def _fitted(right: Tensor, candidates: Sequence[Tensor]) -> Tensor:
    """The first of them that broadcasts to the shape of `right`; zeros where none does."""
    for value in candidates:
        if value.dim() == right.dim() and right.is_floating_point():
            try:
                return value.expand(right.shape).to(right.dtype).clone()
            except RuntimeError:
                continue
    return torch.zeros_like(right)


def _mean(value: Tensor) -> float:
    finite = value.double()[value.double().isfinite()]
    mean = float(finite.mean()) if finite.numel() else 0.0
    return round(mean) if not value.is_floating_point() else mean


def _noise(right: Tensor, seed: int) -> Tensor:
    generator = torch.Generator().manual_seed(seed)
    drawn = torch.randn(right.shape, dtype=torch.float64, generator=generator)
    if not right.is_floating_point():
        return (drawn > 0).to(right.dtype)
    finite = right[right.isfinite()]
    spread = float(finite.double().std()) if finite.numel() > 1 else 1.0
    return (_mean(right) + spread * drawn).to(right.dtype)
