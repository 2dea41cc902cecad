"""The known mistakes of a question as predictions: what each, or several at once, would return."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
from torch import Tensor

from grader.judging import tolerance
from grader.judging.cases import DTYPES, BuiltCase
from grader.judging.compare import ratios
from grader.judging.functions import Function, invoke, readings, resolve, switches
from grader.judging.oracle import Oracle
from reference.mistakes.exponent import Range, double_range

MARGIN = 10.0
"""A case tells a mistake from the right answer when they differ by this many tolerances."""

SAME = 1e-3
"""Tolerances within which two hypotheses are one in float64, whose rounding is far finer."""

Hypothesis = frozenset[str]


@dataclass(frozen=True)
class Prediction:
    """Outputs that a hypothesis gives for a case, and how far rounding may move each entry."""

    outputs: list[Tensor]
    slack: list[Tensor]

    def shapes(self) -> list[tuple[int, ...]]:
        return [tuple(value.shape) for value in self.outputs]

    def fits(self, outputs: Sequence[Tensor]) -> bool:
        return _within(self.outputs, outputs, self.slack)


class Family:
    """The known mistakes of a question, as predictions."""

    def __init__(self, question: Mapping[str, Any], oracle: Oracle) -> None:
        self.oracle = oracle
        self.function = resolve(question["family"])
        self.table = dict(switches(question["family"]))
        self.listed = [name for name in question["mistakes"] if name in self.table]
        others = readings(question["family"])
        self.table |= {name: made for name, (_, made) in others.items()}
        self.same = {name: id_ for name, (id_, _) in others.items() if id_ in self.listed}

    def ids(self, names: Hypothesis) -> Hypothesis:
        """The mistakes that a hypothesis makes, whatever their numbers."""
        return frozenset(self.same.get(name, name) for name in names)

    def compatible(self, names: Iterable[str]) -> dict[str, object] | None:
        """The switches of several mistakes together; None where two set the same switch."""
        merged: dict[str, object] = {}
        for name in names:
            if merged.keys() & self.table[name].keys():
                return None
            merged.update(self.table[name])
        return merged

    def mistaken(self, names: Iterable[str]) -> Function:
        """The function that makes them all. Raises ValueError where they do not go together."""
        extra = self.compatible(sorted(names))
        if extra is None:
            raise ValueError(f"{', '.join(sorted(names))} set the same switch")
        return partial(self.function, **extra)

    def run(self, names: Hypothesis, case: BuiltCase, dtype: torch.dtype) -> list[Tensor] | None:
        """The outputs in one dtype; None where this combination cannot be computed.

        Kept with the oracle: the next submission of the same seed asks for the same.
        """
        key = (names, id(case), dtype, Range.is_double)
        if key not in self.oracle.predicted:
            met, Range.is_met = Range.is_met, False
            outputs = self._run(names, case, dtype)
            self.oracle.predicted[key] = case, outputs, Range.is_met
            Range.is_met = met
        _, outputs, met = self.oracle.predicted[key]
        Range.is_met = Range.is_met or met
        return outputs

    @torch.inference_mode()
    def _run(self, names: Hypothesis, case: BuiltCase, dtype: torch.dtype) -> list[Tensor] | None:
        extra = self.compatible(sorted(names))
        if extra is None:
            return None
        try:
            return invoke(self.function, case, dtype, self.oracle.framework, extra)
        except (RuntimeError, ValueError, IndexError, TypeError, ArithmeticError):
            return None

    def predictions(self, names: Hypothesis, case: BuiltCase) -> Iterable[Prediction]:
        """In the case's own dtype, where range and precision show, and in float64.

        Rounding may differ from ours by what a right answer is allowed, or by what it costs this
        very mistake; the second only around the float64 numbers, for where the dtype itself makes
        the mistake the two lie far apart.
        """
        dtype = tolerance.graded_dtype(DTYPES[case.dtype])
        rounded = self.run(names, case, dtype)
        truth, n = self.oracle.truth(case), self.oracle.reduction(case)
        if rounded is None or len(rounded) != len(truth.allowed):
            return
        for centre in self._centres(names, case, rounded):
            outputs = [value.double() if value.is_floating_point() else value for value in centre]
            slack = [
                self.slack(value, other, allowed, dtype, n)
                for value, other, allowed in zip(
                    outputs, rounded, truth.allowed.values(), strict=True
                )
            ]
            yield Prediction(outputs, slack)

    def _centres(
        self, names: Hypothesis, case: BuiltCase, rounded: list[Tensor]
    ) -> Iterator[list[Tensor]]:
        """What rounding is looked for around; each is computed when those before did not fit."""
        yield rounded
        Range.is_met = False
        exact = self.run(names, case, torch.float64)
        if exact is None or len(exact) != len(rounded):
            return
        met = Range.is_met
        yield exact
        if met:  # code that computes in float64 has its range
            with double_range():
                wide = self.run(names, case, torch.float64)
            if wide is not None:
                yield wide

    def alike(self, one: Hypothesis, other: Hypothesis, case: BuiltCase) -> bool:
        """Whether the two differ by no more than rounding: then another draw of the case does not
        tell them apart either, unless there are tokens, lengths or masks to be drawn, or rounding
        is all that is wrong with them."""
        dtype = tolerance.graded_dtype(DTYPES[case.dtype])
        mine, yours = self.run(one, case, dtype), self.run(other, case, dtype)
        if mine is None or yours is None:
            return False
        tensors = [v for v in (*case.values.values(), *mine, *yours) if isinstance(v, Tensor)]
        if not all(value.is_floating_point() for value in tensors):
            return False
        if _within(mine, yours, [torch.zeros(())] * len(mine)):
            return True
        exact, other_exact = (self.run(names, case, torch.float64) for names in (one, other))
        if exact is None or other_exact is None:
            return False
        truth, n = self.oracle.truth(case), self.oracle.reduction(case)
        slack = [
            self.slack(value, rounded, allowed, dtype, n)
            for value, rounded, allowed in zip(exact, mine, truth.allowed.values(), strict=True)
        ]
        fine = [SAME * value for value in slack]
        if _within(exact, [value.double() for value in truth.expected.values()], fine):
            return False
        return _within(mine, yours, slack) and _within(exact, other_exact, fine)

    @staticmethod
    def slack(
        value: Tensor, rounded: Tensor, allowed: Tensor, dtype: torch.dtype, n: int
    ) -> Tensor:
        """How far rounding may move each entry of `value`: by what it did in `rounded`, by what
        that size may lose, or by what is `allowed` of a right answer."""
        if value.shape != rounded.shape:
            return torch.zeros(value.shape, dtype=torch.float64)
        slack = tolerance.allowed(value, [rounded], dtype, n)
        return torch.maximum(slack, allowed) if slack.shape == allowed.shape else slack


def _within(mine: Sequence[Tensor], yours: Sequence[Tensor], slack: Sequence[Tensor]) -> bool:
    """Whether all entries are equal but for `slack`."""
    return all(
        one.shape == other.shape and bool((ratios(other, one, by) <= 1).all())
        for one, other, by in zip(mine, yours, slack, strict=True)
    )
