"""Which known mistake gives exactly these numbers, if the evidence singles one out.

A hypothesis is a set of mistakes, that is, a set of switches of the question's family. It is
kept only where its outputs equal the submission's, within rounding, on every case that can be
compared, those included that pass; and where it lies far outside the tolerance on at least one.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations

import torch
from torch import Tensor

from grader.judging import tolerance
from grader.judging.answers import Answer
from grader.judging.cases import DTYPES, BuiltCase
from grader.judging.compare import ratios
from grader.judging.family import MARGIN, Family, Hypothesis, Prediction
from reference.mistakes.exponent import Range

NEAR = 1000.0
"""Tolerances within which a hypothesis is looked at closely."""

TELLING = 48
"""Output entries that a case should have to screen on it."""

LARGE = 3
"""Times as many entries as a right case has: then a wrong one is not the first to screen on."""

ROUNDS = 3
"""Further draws of all the cases, where two hypotheses fit."""


@dataclass(frozen=True)
class Named:
    """`mistakes`: certain. `either`: two single mistakes that no case told apart."""

    mistakes: tuple[str, ...] = ()
    either: tuple[str, ...] = ()


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

    def allows(self, names: Hypothesis) -> bool:
        """Whether no case is wrong where the mistake does not show, and most are where it does.

        Not by the same numbers, nor all: at lengths of several tiles the numbers hang on the tiles'
        size, and at one of a single key a guard may hide the mistake.
        """
        hidden = seen = 0
        for answer in self.answers:
            if not answer.values_right and self._shows(names, answer):
                seen += 1
            elif self._fitting(names, answer) is None:
                if not answer.values_right:
                    return False
                hidden += 1
        return hidden <= seen

    def _shows(self, names: Hypothesis, answer: Answer) -> bool:
        """Whether no prediction is the right answer."""
        right = list(self.family.oracle.truth(answer.case).expected.values())
        return not any(p.fits(right) for p in self.family.predictions(names, answer.case))

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


def name(
    family: Family,
    answers: Sequence[Answer],
    more: MoreAnswers,
    shapes: Callable[[], Sequence[Answer]] = tuple,
) -> Named:
    """Single mistakes first, then pairs. `more(n)` answers a further draw of all the cases, and
    `shapes()` a kernel's other shapes, which are not asked for before a mistake fits."""
    evidence = Evidence(family, answers)
    singles = [frozenset([m]) for m in (*family.listed, *family.same)]
    found = settle(family, singles, evidence, more, shapes)
    if not found:
        pairs = (frozenset(pair) for pair in combinations(family.listed, 2))
        joined = (pair for pair in pairs if family.compatible(pair) is not None)
        found = settle(family, joined, evidence, more, shapes)
    return verdict(found)


def settle(
    family: Family,
    hypotheses: Iterable[Hypothesis],
    evidence: Evidence,
    more: MoreAnswers,
    shapes: Callable[[], Sequence[Answer]] = tuple,
) -> list[Hypothesis]:
    """The hypotheses that all the evidence supports, that of other `shapes` too, with fresh draws
    while several do that these may tell apart."""
    found = [h for h in evidence.screened(hypotheses) if evidence.supports(h)]
    if found and (others := shapes()):
        elsewhere = Evidence(family, others)
        found = [h for h in found if elsewhere.allows(h)]
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
