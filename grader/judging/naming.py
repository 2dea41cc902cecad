"""Which known mistake gives exactly these numbers, if the evidence singles one out.

A hypothesis is a set of mistakes, that is, a set of switches of the question's family. It is
kept only where its outputs equal the submission's, within rounding, on every case that can be
compared, those included that pass; and where it lies far outside the tolerance on at least one.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from typing import Any

import torch
from torch import Tensor

from grader.judging import tolerance
from grader.judging.answers import Answer
from grader.judging.cases import DTYPES, BuiltCase
from grader.judging.compare import ratios
from grader.judging.functions import Function, invoke, readings, resolve, switches
from grader.judging.oracle import Oracle
from reference.mistakes.exponent import Range, double_range

MARGIN = 10.0
"""A case tells a mistake from the right answer when they differ by this many tolerances."""

NEAR = 1000.0
"""Tolerances within which a hypothesis is looked at closely."""

TELLING = 48
"""Output entries that a case should have to screen on it."""

LARGE = 3
"""Times as many entries as a right case has: then a wrong one is not the first to screen on."""

SAME = 1e-3
"""Tolerances within which two hypotheses are one in float64, whose rounding is far finer."""

ROUNDS = 3
"""Further draws of all the cases, where two hypotheses fit."""

Hypothesis = frozenset[str]


@dataclass(frozen=True)
class Named:
    """`mistakes`: certain. `either`: two single mistakes that no case told apart."""

    mistakes: tuple[str, ...] = ()
    either: tuple[str, ...] = ()


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


class Evidence:
    """The cases that a submission answered, and what each says of a hypothesis.

    `screen` is the most telling wrong one; None where nothing can be named.
    """

    def __init__(self, family: Family, answers: Sequence[Answer]) -> None:
        self.family = family
        self.answers = [a for a in answers if a.outputs is not None or self._misshapen(a)]
        self.lost = sum(a.outputs is None for a in answers)
        failing = [a for a in answers if a.differences]
        self.screen = min(failing, key=_preference) if failing else None
        if all(_is_blank(a) for a in self.answers):
            self.screen = None
        self.quick = self._quick()

    @staticmethod
    def _misshapen(answer: Answer) -> bool:
        return answer.returned and answer.kinds_fit and not answer.shapes_fit

    def screened(self, hypotheses: Iterable[Hypothesis]) -> list[Hypothesis]:
        """Those that a quick look, and the most telling wrong case, do not rule out."""
        if self.screen is None:
            return []
        near, ruled_out = [], [0] * len(self.quick)
        for h in hypotheses:
            by = next((n for n, a in enumerate(self.quick) if not self._plausible(h, a)), None)
            if by is None:
                near.append(h)
            else:
                ruled_out[by] += 1
        # What rules out most goes first the next time: the singles tell it, and pairs are many.
        order = sorted(range(len(self.quick)), key=lambda n: -ruled_out[n])
        self.quick = [self.quick[n] for n in order]
        return [h for h in near if self._fitting(h, self.screen)]

    def _quick(self) -> list[Answer]:
        """What to have a quick look at: the most telling wrong case, then the ordinary right ones,
        which rule most of the rest out for less than a close look at one of large scores.

        A small right case goes first where the wrong one is large.
        """
        if self.screen is None:
            return []
        right = sorted(
            (
                a
                for a in self.answers
                if a.values_right and not a.case.clear_leader and a.case.dtype == "float32"
            ),
            key=_preference,
        )
        small = bool(right) and LARGE * right[0].case.entries() <= self.screen.case.entries()
        return [*right[:small], self.screen, *right[small:]]

    def _plausible(self, names: Hypothesis, answer: Answer) -> bool:
        """A quick look, which spares most hypotheses the rest.

        Wrong outputs are to be near what the hypothesis gives in the case's own dtype, where the
        dtype may be at fault; right ones, in whatever dtype they were computed, near the exact.
        """
        if answer.case.clear_leader or answer.outputs is None:
            return True  # large scores: rounding alone may go far
        if answer.differences:
            return self._near(names, answer, tolerance.graded_dtype(DTYPES[answer.case.dtype]))
        Range.is_met = False
        return self._near(names, answer, torch.float64) or Range.is_met

    def _near(self, names: Hypothesis, answer: Answer, dtype: torch.dtype) -> bool:
        outputs = self.family.run(names, answer.case, dtype)
        if outputs is None or answer.outputs is None or len(outputs) != len(answer.outputs):
            return False
        graded = tolerance.graded_dtype(DTYPES[answer.case.dtype])
        unit = torch.finfo(graded).eps * math.sqrt(self.family.oracle.reduction(answer.case))
        allowed = self.family.oracle.truth(answer.case).allowed.values()
        return all(
            # Where zeros are right nothing is allowed: the mistake's own rounding counts too.
            mine.shape == yours.shape
            and bool((ratios(yours, mine, NEAR * (slack + unit * _largest(mine))) <= 1).all())
            for mine, yours, slack in zip(outputs, answer.outputs.values(), allowed, strict=True)
        )

    def fits(self, names: Hypothesis) -> bool:
        """Whether every case might have been answered by it."""
        return all(self._fitting(names, answer) is not None for answer in self.answers)

    def supports(self, names: Hypothesis) -> bool:
        """Whether every case fits, and enough of them tell the hypothesis from the right answer."""
        telling = 0
        for answer in self.answers:
            found = self._fitting(names, answer)
            if found is None:
                return False
            telling += answer.outputs is not None and self._tells(found, answer.case)
        return telling >= (2 if self.lost else 1)

    def groups(self, hypotheses: Iterable[Hypothesis]) -> list[list[Hypothesis]]:
        """Those that no further draw tells apart, together."""
        groups: list[list[Hypothesis]] = []
        for names in hypotheses:
            for group in groups:
                if all(self.family.alike(names, group[0], a.case) for a in self.answers):
                    group.append(names)
                    break
            else:
                groups.append([names])
        return groups

    def _fitting(self, names: Hypothesis, answer: Answer) -> Prediction | None:
        for prediction in self.family.predictions(names, answer.case):
            if answer.outputs is None:
                if prediction.shapes() == [header.shape for header in answer.headers]:
                    return prediction
            elif prediction.fits(list(answer.outputs.values())):
                return prediction
        return None

    def _tells(self, prediction: Prediction, case: BuiltCase) -> bool:
        truth = self.family.oracle.truth(case)
        return any(
            mine.shape == right.shape
            and bool((ratios(mine, right, torch.maximum(slack, allowed)) >= MARGIN).any())
            for mine, slack, right, allowed in zip(
                prediction.outputs,
                prediction.slack,
                truth.expected.values(),
                truth.allowed.values(),
                strict=True,
            )
        )


def _within(mine: Sequence[Tensor], yours: Sequence[Tensor], slack: Sequence[Tensor]) -> bool:
    """Whether all entries are equal but for `slack`."""
    return all(
        one.shape == other.shape and bool((ratios(other, one, by) <= 1).all())
        for one, other, by in zip(mine, yours, slack, strict=True)
    )


def _largest(value: Tensor) -> float:
    """Of the finite entries, in size; 0 where nothing is rounded."""
    if not value.is_floating_point():
        return 0.0
    size = value.abs()
    most = float(size.max()) if value.numel() else 0.0
    if math.isfinite(most):
        return most
    finite = size[size.isfinite()]
    return float(finite.max()) if finite.numel() else 0.0


def _is_blank(answer: Answer) -> bool:
    """Whether nothing but zeros, or nothing finite, came back: any fault at all may give that, so
    it is evidence of none."""
    if answer.outputs is None:
        return False
    values = [value for value in answer.outputs.values() if value.is_floating_point()]
    blank = (value.isfinite() & (value != 0) for value in values)
    return bool(values) and not any(bool(one.any()) for one in blank)


def _preference(answer: Answer) -> tuple[bool, bool, int, bool, int]:
    """Screen on numbers rather than NaN, in float32, on a small case where much can differ."""
    case = answer.case
    odd = sum(d.nan + d.infinite for d in answer.differences)
    entries = case.entries()
    return case.clear_leader, case.dtype != "float32", odd, entries < TELLING, entries


MoreAnswers = Callable[[int], Sequence[Answer]]


def name(family: Family, answers: Sequence[Answer], more: MoreAnswers) -> Named:
    """Single mistakes first, then pairs. `more(n)` answers a further draw of all the cases."""
    evidence = Evidence(family, answers)
    singles = [frozenset([m]) for m in (*family.listed, *family.same)]
    found = settle(family, singles, evidence, more)
    if not found:
        pairs = (frozenset(pair) for pair in combinations(family.listed, 2))
        joined = (pair for pair in pairs if family.compatible(pair) is not None)
        found = settle(family, joined, evidence, more)
    return verdict(found)


def settle(
    family: Family, hypotheses: Iterable[Hypothesis], evidence: Evidence, more: MoreAnswers
) -> list[Hypothesis]:
    """The hypotheses that all the evidence supports, with fresh draws while several do that these
    may tell apart."""
    found = [h for h in evidence.screened(hypotheses) if evidence.supports(h)]
    if len({family.ids(h) for h in found}) > 1:
        groups = evidence.groups(found)
        for n in range(1, ROUNDS + 1):
            if len(groups) < 2 or len({family.ids(h) for h in found}) < 2:
                break
            further = Evidence(family, more(n))
            if further.screen is None:
                break
            groups = [group for group in groups if any(map(further.supports, group))]
            found = [h for group in groups for h in group]
    return list(dict.fromkeys(family.ids(h) for h in found))


def verdict(found: Sequence[Hypothesis]) -> Named:
    """One hypothesis is named; of several, only what all of them say."""
    if not found:
        return Named()
    common = frozenset.intersection(*found)
    if common:
        return Named(mistakes=tuple(sorted(common)))
    if len(found) == 2 and all(len(h) == 1 for h in found):
        return Named(either=tuple(sorted(m for h in found for m in h)))
    return Named()
