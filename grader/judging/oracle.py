"""What is right for a case, and how far a right answer may lie from it. Computed once, kept."""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from grader.judging import tolerance
from grader.judging.cases import DTYPES, BuiltCase, build
from grader.judging.functions import Function, invoke, invoke_with, resolve
from questions.sizes import evaluate

SLOPE_BASELINES = 2
"""Baselines run backward; backward passes are what a grade spends most on."""

QUERIES = ("q", "w_q", "Wq")
"""What the queries are, or are made by: the outputs depend on it through the scores alone."""

SWAY = 1024.0
"""Rounding errors that large scores may move by before a drawn case is settled. Through the
log-sum-exp, a right way, whatever the leader leaves to the others is rounded away next to it: so
it must leave almost nothing."""

TRIES = 60
"""Draws of a `clear_leader` case before the best of them is taken."""

SETTLED = 4.0
"""A draw is settled when an error of half an ulp in the inputs, and the order of the arithmetic,
move the outputs by less than this many eps * max|output| * sqrt(reduction)."""


@dataclass(frozen=True)
class Truth:
    """`expected` in float64 (or bool, int64) and the `allowed` |error|, by output or input name."""

    expected: dict[str, Tensor]
    allowed: dict[str, Tensor]


class Oracle:
    """The reference in float64 on the very inputs of a case; its same-dtype baselines."""

    def __init__(self, question: Mapping[str, Any]) -> None:
        self.question = question
        self.framework: str = question["framework"]
        self.reference = resolve(question["reference"])
        self.baselines = [resolve(name) for name in question["baselines"]]
        self._took: dict[int, float] = {}  # seconds of the first baseline, by the case's id
        self._draws: dict[tuple[str, str, int], BuiltCase] = {}
        self._truths: dict[int, tuple[BuiltCase, Truth]] = {}
        self._slopes: dict[int, tuple[BuiltCase, Truth]] = {}
        self.predicted: dict[object, tuple[BuiltCase, list[Tensor] | None, bool]] = {}
        """For `naming.Family`: what known mistakes give; a case is kept, so that its id is its own.
        """

    def draw(self, declared: Mapping[str, Any], dtype: str, seed: int) -> BuiltCase:
        """The inputs of a case; drawn again while rounding alone would decide the outputs."""
        key = (declared["id"], dtype, seed)
        if key not in self._draws:
            self._draws[key] = self._settled(declared, dtype, seed)
        return self._draws[key]

    def truth(self, case: BuiltCase) -> Truth:
        """Expected outputs and tolerances, by output name."""
        if id(case) not in self._truths:  # the case is kept beside, so that its id stays its own
            self._truths[id(case)] = case, self._values(case)
        return self._truths[id(case)][1]

    def usual_seconds(self, cases: Iterable[BuiltCase]) -> float:
        """What the first baseline took for the cases: the submission's own task."""
        return sum(self._took.get(id(case), 0.0) for case in cases)

    def cotangents(self, case: BuiltCase, seed: int) -> list[Tensor | None]:
        """One random cotangent for each floating output whose gradient is graded, in the case's
        dtype."""
        generator = torch.Generator().manual_seed(seed & 0x7FFFFFFFFFFFFFFF)
        outputs = self.question["outputs"]
        return [
            torch.randn(value.shape, dtype=torch.float64, generator=generator).to(
                DTYPES[case.dtype]
            )
            if value.is_floating_point() and outputs[name].get("gradient", True)
            else None
            for name, value in self.truth(case).expected.items()
        ]

    def slopes(self, case: BuiltCase, cotangents: list[Tensor | None]) -> Truth:
        """Expected gradients of sum(output * cotangent) and tolerances, by input name."""
        if id(case) not in self._slopes:
            expected = self._gradients(self.reference, case, torch.float64, cotangents)
            dtype = tolerance.graded_dtype(DTYPES[case.dtype])
            few = self.baselines[:SLOPE_BASELINES]
            others = [self._gradients(b, case, dtype, cotangents) for b in few]
            near = case.with_values(**nudged(case))
            others.append(self._gradients(self.reference, near, torch.float64, cotangents))
            names = list(case.gradients)
            self._slopes[id(case)] = case, self._truth(case, names, expected, others, True)
        return self._slopes[id(case)][1]

    def reduction(self, case: BuiltCase) -> int:
        """The length of the longest sum in the case's dtype: a kernel sums halves in float32."""
        if self._sums_in_float32(case):
            return 1
        return max(1, evaluate(self.question["reduction"], case.sizes))

    def _sums_in_float32(self, case: BuiltCase) -> bool:
        return self.question["kind"] == "kernel" and DTYPES[case.dtype].itemsize == 2

    @torch.inference_mode()
    def _values(self, case: BuiltCase) -> Truth:
        expected = self.exact(case)
        dtype = tolerance.graded_dtype(DTYPES[case.dtype])
        others = []
        for n, baseline in enumerate(self.baselines):
            started = time.perf_counter()
            others.append(invoke(baseline, case, dtype, self.framework))
            if n == 0:
                self._took[id(case)] = time.perf_counter() - started
        if not self._sums_in_float32(case):  # what a kernel rounds to the dtype, its baselines do
            others.append(invoke_with(self.reference, case, nudged(case), self.framework))
        return self._truth(case, list(case.outputs), expected, others)

    @torch.inference_mode()
    def exact(self, case: BuiltCase) -> list[Tensor]:
        """The reference in float64 on the case's inputs, which are already rounded to its dtype."""
        return invoke(self.reference, case, torch.float64, self.framework)

    def _truth(
        self,
        case: BuiltCase,
        names: list[str],
        expected: list[Tensor],
        others: list[list[Tensor]],
        gradient: bool = False,
    ) -> Truth:
        n, dtype = self.reduction(case), DTYPES[case.dtype]
        sizes = (float(value.abs().max()) for value in expected if value.numel())
        largest = max(sizes, default=0.0) if gradient else None
        return Truth(
            dict(zip(names, expected, strict=True)),
            {
                name: tolerance.allowed(value, [o[i] for o in others], dtype, n, largest)
                for i, (name, value) in enumerate(zip(names, expected, strict=True))
            },
        )

    def _gradients(
        self,
        function: Function,
        case: BuiltCase,
        dtype: torch.dtype,
        cotangents: list[Tensor | None],
    ) -> list[Tensor]:
        leaves = {
            name: value.to(dtype, copy=True).requires_grad_(name in case.gradients)
            for name, value in case.values.items()
            if isinstance(value, Tensor) and value.is_floating_point()
        }
        outputs = invoke_with(function, case, leaves, self.framework)
        total = torch.stack(
            [
                (out * weight.to(out.dtype)).sum()
                for out, weight in zip(outputs, cotangents, strict=True)
                if weight is not None
            ]
        ).sum()
        wanted = [leaves[name] for name in case.gradients]
        found = torch.autograd.grad(total, wanted, materialize_grads=True)
        return [gradient.detach() for gradient in found]

    def _settled(self, declared: Mapping[str, Any], dtype: str, seed: int) -> BuiltCase:
        best, least = build(self.question, declared, dtype, seed), math.inf
        if not declared["clear_leader"]:
            return best
        for draw in range(TRIES):
            case = build(self.question, declared, dtype, seed, draw)
            unrest = self._unrest(case, least)
            if unrest < least:
                best, least = case, unrest
            if unrest <= SETTLED:
                break
        return best

    def is_settled(self, case: BuiltCase) -> bool:
        """Whether rounding leaves its outputs as they are, as far as `draw` sees to it."""
        return not case.clear_leader or self._unrest(case) <= SETTLED

    @torch.inference_mode()
    def _unrest(self, case: BuiltCase, least: float = math.inf) -> float:
        """How far rounding moves the outputs, in units of eps * max|output| * sqrt(reduction).

        Exact only below `least`: a draw that is worse than the best so far is not looked at on.
        """
        eps = torch.finfo(tolerance.graded_dtype(DTYPES[case.dtype])).eps
        expected = self.exact(case)
        unit = eps * math.sqrt(self.reduction(case))
        worst = 0.0
        for outputs in self._rounded(case):
            for value, other in zip(expected, outputs, strict=True):
                finite = value[value.isfinite()].abs()
                size = float(finite.max()) if finite.numel() else 0.0
                error = (other.double() - value).abs()
                error = error[error.isfinite()]
                if size and error.numel():
                    worst = max(worst, float(error.max()) / (unit * size))
            if worst >= least:
                break
        return worst

    def _rounded(self, case: BuiltCase) -> Iterator[list[Tensor]]:
        """What rounding may make of the outputs; the likeliest to tell first."""
        calm, swayed = nudged(case, 3, 0.0), nudged(case, 3, SWAY)
        if any(name in QUERIES for name in calm):
            queries = {name: swayed[name] for name in calm if name in QUERIES}
            yield invoke_with(self.reference, case, calm | queries, self.framework)
        for n in range(3):
            yield invoke_with(self.reference, case, nudged(case, n), self.framework)
        graded = tolerance.graded_dtype(DTYPES[case.dtype])
        for baseline in self.baselines:
            yield invoke(baseline, case, graded, self.framework)


def nudged(case: BuiltCase, seed: int = 0, times: float = 1.0) -> dict[str, Tensor]:
    """The floating inputs in float64, each moved by about `times` rounding errors of the graded
    dtype.

    How far the exact outputs then move is the problem's condition: no algorithm in this dtype can
    be expected to come closer, however it is written.
    """
    eps = times * torch.finfo(tolerance.graded_dtype(DTYPES[case.dtype])).eps
    generator = torch.Generator().manual_seed(seed)
    return {
        name: value.double()
        * (1 + eps * torch.randn(value.shape, dtype=torch.float64, generator=generator))
        for name, value in case.values.items()
        if isinstance(value, Tensor) and value.is_floating_point()
    }
