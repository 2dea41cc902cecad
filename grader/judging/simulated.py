"""A worker that is none: a trusted function in the judge's own process, asked as a submission is.

The bank's proof of power sends every known mistake through the whole grade in this way. Nothing
that a learner wrote ever runs here.
"""

from __future__ import annotations

import time
import traceback
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import Tensor

from grader.isolation.calls import Call, Counts, Header, Made, Outcome, OutputSpec
from grader.isolation.child import counting


class Simulated:
    """Has the methods of a worker; `function` is called with copies of the inputs."""

    def __init__(self, function: Callable[..., Any], framework: str = "torch") -> None:
        self.function = function
        self.framework = framework

    def __enter__(self) -> Simulated:
        return self

    def __exit__(self, *exc: object) -> None:
        return None

    def load(self) -> Outcome:
        return Outcome("returned")

    def call(self, call: Call) -> Outcome:
        started = time.perf_counter()
        leaves = [self._copy(value) for value in [*call.args, *call.kwargs.values()]]
        for index in call.gradients:
            leaves[index].requires_grad_(True)
        before = [v.detach().clone() if isinstance(v, Tensor) else v for v in leaves]
        given = [self._given(value) for value in leaves]
        positional = given[: len(call.args)]
        keywords = dict(zip(call.kwargs, given[len(call.args) :], strict=True))
        try:
            if call.count:
                returned, counted = counting.counted(self.function, positional, keywords, "")
                counts = _counts(counted)
            else:
                returned, counts = self.function(*positional, **keywords), None
        except Exception as error:
            lines = traceback.format_exception_only(type(error), error)
            return Outcome("exception", error="".join(lines).strip())
        values = list(returned) if isinstance(returned, (tuple, list)) else [returned]
        gradients, trouble = self._gradients(call, leaves, values)
        changed = [
            index
            for index, (old, new) in enumerate(zip(before, leaves, strict=True))
            if isinstance(old, Tensor) and not torch.equal(_bits(old), _bits(new.detach()))
        ]
        return Outcome(
            "returned",
            headers=[_header(value) for value in values],
            outputs=[
                _output(values[n] if n < len(values) else None, spec)
                for n, spec in enumerate(call.outputs)
            ],
            gradients=gradients,
            gradient_error=trouble,
            inputs_changed=changed,
            seconds=time.perf_counter() - started,
            counts=counts,
        )

    def _copy(self, value: Any) -> Any:
        return value.clone() if isinstance(value, Tensor) else value

    def _given(self, value: Any) -> Any:
        return value.numpy() if self.framework == "numpy" and isinstance(value, Tensor) else value

    def _gradients(
        self, call: Call, leaves: list[Any], values: list[Any]
    ) -> tuple[list[Tensor | None], str]:
        if not call.gradients:
            return [], ""
        pairs = zip(values, call.cotangents, strict=True)
        try:
            total = torch.stack([(v * w).sum() for v, w in pairs if w is not None]).sum()
            wanted = [leaves[index] for index in call.gradients]
            return list(torch.autograd.grad(total, wanted, allow_unused=True)), ""
        except RuntimeError as error:
            return [None] * len(call.gradients), str(error)


def _counts(found: counting.Counts) -> Counts:
    tensor, computed = (
        Made(one.elements, one.shape, one.dtype, None) if one.elements else None
        for one in (found.tensor, found.computed)
    )
    hidden = found.unseen, found.by_hand
    return Counts(
        found.work, found.flops, None, tensor, computed, found.operations, found.held, *hidden
    )


def _header(value: Any) -> Header:
    if isinstance(value, Tensor):
        return Header(tuple(value.shape), str(value.dtype).removeprefix("torch."), "tensor")
    if isinstance(value, np.ndarray):
        return Header(value.shape, str(value.dtype), "array")
    return Header((), "", "None" if value is None else type(value).__name__)


def _output(value: Any, spec: OutputSpec) -> Tensor | None:
    header = _header(value)
    if header.shape != spec.shape or header.dtype not in spec.dtypes:
        return None
    return torch.as_tensor(value).detach().clone() if header.kind in ("tensor", "array") else None


def _bits(value: Tensor) -> Tensor:
    """NaN equals NaN only by its bits."""
    return value.contiguous().reshape(-1).view(torch.uint8) if value.numel() else value
