"""What a wrong answer does when its inputs are moved: facts for when no known mistake fits.

Each probe changes one input, calls the submission again, and reports what was seen. A law that
the reference itself does not keep on a case is not tested there.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor

from grader.judging.answers import Answer, given, request
from grader.judging.cases import BuiltCase
from grader.judging.compare import ratios
from grader.judging.functions import invoke_with
from grader.judging.oracle import QUERIES, Oracle
from grader.judging.trial import Worker

MANY, SMALL = 5, 1 / 250
"""Wrong cases, and the part of the largest entry that none of theirs is off by: 2**-8 and less is
what products of 8 to 11 bits lose."""

POSITIONS = 6
"""Positions tried by one probe at most."""

SHIFT = 5

COARSE = 0.02
"""Relative: what half precision inside may change."""

CASES = 3
"""Cases on which a law must hold before it is said to."""

KEPT = frozenset({"no-leak", "apart", "constant", "hidden-ignored", "shift-keeps", "turns"})
"""Facts that say of a law that it holds."""


ONE = 1e-5
"""Float32 weights sum to one within this; an epsilon that is a fault moves the sum by more."""


@dataclass(frozen=True)
class Fact:
    """`template` names the sentence in feedback/probes.j2; `values` go into it."""

    template: str
    values: dict[str, Any] = field(default_factory=dict)


class Prober:
    """Puts the question's probes to a live worker."""

    def __init__(
        self, question: Mapping[str, Any], oracle: Oracle, worker: Worker, answers: Sequence[Answer]
    ) -> None:
        self.question = question
        self.oracle = oracle
        self.worker = worker
        usable = [a for a in answers if a.outputs is not None and a.case.dtype == "float32"]
        # The smallest wrong case first: its facts are the ones the learner can check by hand.
        self.answers = sorted(usable, key=lambda a: (not a.differences, a.case.entries()))

    def facts(self) -> list[Fact]:
        found = []
        for probe in self.question["probes"]:
            kind: Callable[[Mapping[str, Any], Answer], Fact | None] = {
                "future": self._future,
                "independent": self._independent,
                "constant-value": self._constant,
                "hidden": self._hidden,
                "shift": self._shift,
            }[probe["kind"]]
            usable = [a for a in self.answers if probe["input"] in a.case.values]
            largest = max(usable, key=lambda a: a.case.entries(), default=None)
            kept: list[Fact] = []
            for answer in usable:
                # A broken law shows on one case; that it is kept, on several and on the largest.
                seen = len(kept) >= CASES and answer is not largest
                fact = None if seen else kind(probe, answer)
                if fact is not None:
                    kept.append(fact)
                    if fact.template not in KEPT:
                        break
            found += kept[-1:]
        distinct = list({(f.template, str(f.values)): f for f in found}.values())
        # Broken laws first: they lead to the fault.
        return _together(sorted(distinct, key=lambda f: f.template in KEPT))

    def _call(self, case: BuiltCase, output: str) -> Tensor | None:
        outputs = given(case, self.worker.call(request(case)))  # what is right here is not asked
        return None if outputs is None else outputs[output]

    def _tensor(self, answer: Answer, name: str) -> Tensor | None:
        value = answer.case.values[name]
        return value if isinstance(value, Tensor) else None

    def _moved(self, answer: Answer, output: str, after: Tensor, axis: int) -> list[int]:
        """Indices along `axis` of the output where anything moved by more than rounding."""
        assert answer.outputs is not None
        before = answer.outputs[output].double()
        slack = torch.maximum(
            self.oracle.truth(answer.case).allowed[output], 1e-5 * before.abs().nan_to_num(0.0)
        )
        rest = [n for n in range(before.dim()) if n != axis]
        moved = (ratios(after, before, slack) > 1).permute(axis, *rest)
        return [int(n) for n in moved.reshape(before.shape[axis], -1).any(1).nonzero().flatten()]

    def _future(self, probe: Mapping[str, Any], answer: Answer) -> Fact | None:
        value = self._tensor(answer, probe["input"])
        axis, out_axis = probe["axis"], probe["output_axis"]
        assert answer.outputs is not None
        output = answer.outputs[probe["output"]]
        if value is None or value.shape[axis] < 2 or output.shape[out_axis] < 2:
            return None
        ahead = value.shape[axis] - output.shape[out_axis]  # bottom-right alignment
        tried, leaks = 0, []
        for position in _spread(range(1, value.shape[axis])):
            changed = _changed(answer.case, probe["input"], axis, position)
            after = self._call(changed, probe["output"])
            if after is None:
                return None
            tried += 1
            moved = self._moved(answer, probe["output"], after, out_axis)
            early = [row for row in moved if row + ahead < position]
            leaks += [(row, position, position - ahead - row) for row in early]
        if not leaks:
            return Fact("no-leak", {"what": probe["what"], "name": probe["input"]})
        far = max(gap for _, _, gap in leaks)
        row, position, _ = min(leaks, key=lambda leak: (leak[2], leak[1]))
        return Fact(
            "leak",
            {"what": probe["what"], "name": probe["input"], "row": row, "position": position,
             "by_one": far == 1 and len(leaks) == tried, "ahead": ahead},
        )  # fmt: skip

    def _independent(self, probe: Mapping[str, Any], answer: Answer) -> Fact | None:
        value = self._tensor(answer, probe["input"])
        axis, out_axis = probe["axis"], probe["output_axis"]
        assert answer.outputs is not None
        output = answer.outputs[probe["output"]]
        if value is None or max(axis, out_axis) >= min(value.dim(), output.dim()):
            return None
        size = value.shape[axis]
        if size < 2 or output.shape[out_axis] != size:
            return None
        for position in _spread(range(size)):
            changed = _changed(answer.case, probe["input"], axis, position)
            after = self._call(changed, probe["output"])
            if after is None:
                return None
            moved = self._moved(answer, probe["output"], after, out_axis)
            others = [n for n in moved if n != position]
            if others:
                return Fact(
                    "mixes",
                    {"what": probe["what"], "name": probe["input"], "position": position,
                     "other": others[0]},
                )  # fmt: skip
        return Fact("apart", {"what": probe["what"], "name": probe["input"]})

    def _constant(self, probe: Mapping[str, Any], answer: Answer) -> Fact | None:
        value = self._tensor(answer, probe["input"])
        if value is None or not value.is_floating_point():
            return None
        case = answer.case.with_values(**{probe["input"]: torch.ones_like(value)})
        index = list(answer.case.outputs).index(probe["output"])
        right = self.oracle.exact(case)[index]
        after = self._call(case, probe["output"])
        sound = (right - 1).abs() < 1e-9
        if after is None or not bool(sound.any()):
            return None
        if bool(after.isnan().any()):
            return Fact("constant-nan", {"name": probe["input"]})
        off = (after.double() - 1).abs() > ONE
        return Fact(
            "not-constant" if bool((off & sound).any()) else "constant", {"name": probe["input"]}
        )

    def _hidden(self, probe: Mapping[str, Any], answer: Answer) -> Fact | None:
        value = self._tensor(answer, probe["input"])
        if value is None or not value.is_floating_point() or self.oracle.framework != "torch":
            return None
        index = list(answer.case.outputs).index(probe["output"])
        tensors = {
            name: tensor.double() if tensor.is_floating_point() else tensor
            for name, tensor in answer.case.values.items()
            if isinstance(tensor, Tensor)
        }
        # With all scores equal no weight is rounded to zero: what has no slope then is hidden.
        even = {name: torch.zeros_like(tensors[name]) for name in QUERIES if name in tensors}
        leaf = tensors[probe["input"]] = value.double().requires_grad_(True)
        out = invoke_with(self.oracle.reference, answer.case, tensors | even, "torch")[index]
        weights = torch.randn(out.shape, generator=torch.Generator().manual_seed(0)).double()
        (slope,) = torch.autograd.grad((out * weights).sum(), [leaf], materialize_grads=True)
        unseen = (slope == 0).all(-1, keepdim=True).expand_as(value)
        if not bool(unseen.any()) or bool(unseen.all()):
            return None
        changed = torch.where(unseen, -2 * value - 3, value)
        case = answer.case.with_values(**{probe["input"]: changed})
        before = self.oracle.exact(answer.case)[index]
        if bool((self.oracle.exact(case)[index] - before).abs().max() > 1e-9):
            return None
        after = self._call(case, probe["output"])
        if after is None:
            return None
        moved = after.dim() and self._moved(answer, probe["output"], after, 0)
        return Fact(
            "hidden-counts" if moved else "hidden-ignored",
            {"what": probe["what"], "name": probe["input"]},
        )

    def _shift(self, probe: Mapping[str, Any], answer: Answer) -> Fact | None:
        value = self._tensor(answer, probe["input"])
        if value is None or answer.outputs is None:
            return None
        case = answer.case.with_values(**{probe["input"]: value + SHIFT})
        index = list(answer.case.outputs).index(probe["output"])
        right, right_after = self.oracle.exact(answer.case)[index], self.oracle.exact(case)[index]
        before, after = answer.outputs[probe["output"]], self._call(case, probe["output"])
        if after is None:
            return None
        values = {"name": probe["input"], "by": SHIFT}
        if _close(right, right_after):
            return Fact("shift-keeps" if _close(before, after) else "shift-moves", values)
        lengths = [tensor.double().norm(dim=-1) for tensor in (right, right_after, before, after)]
        if not _close(lengths[0], lengths[1]):
            return None
        if _close(lengths[2], lengths[3]):
            return Fact("turns", values)
        # A rotation by coarse tables keeps lengths coarsely: nothing is certain then.
        return None if _close(lengths[2], lengths[3], COARSE) else Fact("stretches", values)


def _together(facts: Sequence[Fact]) -> list[Fact]:
    """What does not mix in one input, in one fact."""
    apart: dict[str, list[str]] = {}
    for fact in facts:
        if fact.template == "apart":
            apart.setdefault(fact.values["name"], []).append(fact.values["what"])
    others = [fact for fact in facts if fact.template != "apart"]
    return others + [Fact("apart", {"name": n, "what": what}) for n, what in apart.items()]


def scale(answers: Sequence[Answer], oracle: Oracle) -> Fact | None:
    """One constant that turns the right outputs into the given ones, on every wrong case."""
    factors = []
    wrong = [a for a in answers if a.differences and a.outputs is not None]
    # Half precision gives no factor to three places: let it speak only where nothing else does.
    exact = [a for a in wrong if a.case.dtype != "bfloat16"]
    for answer in exact or wrong:
        truth = oracle.truth(answer.case)
        for name in {difference.name for difference in answer.differences}:
            yours, right = (answer.outputs or {})[name].double(), truth.expected[name].double()
            if not bool(yours.isfinite().all() & right.isfinite().all()) or not bool(right.any()):
                return None
            factor = float((yours * right).sum() / (right * right).sum())
            slack = truth.allowed[name] * max(1.0, abs(factor))
            if abs(factor) < 1e-3 or bool((ratios(yours, factor * right, slack) > 1).any()):
                return None
            factors.append(factor)
    if not factors or max(factors) - min(factors) > 1e-3 * abs(factors[0]):
        return None
    if abs(factors[0] - 1) < 1e-3:
        return None  # the same but for rounding: no factor tells what is wrong
    return Fact("scaled", {"factor": f"{factors[0]:.4g}"})


def small_errors(answers: Sequence[Answer], oracle: Oracle) -> list[Fact]:
    """Whether float32 is wrong in many cases, and in all of them by no more than products lose that
    are rounded to TF32 or half precision."""
    wrong = [a for a in answers if a.differences and a.case.dtype == "float32"]
    if len(wrong) < MANY:
        return []
    for answer in wrong:
        for name, right in oracle.truth(answer.case).expected.items():
            given = (answer.outputs or {}).get(name)
            if given is None or not right.is_floating_point():
                return []
            if not _close(right, given, SMALL):
                return []
    values = {"part": round(1 / SMALL), "count": len(wrong)}
    return [Fact("small-errors", {**values, "kernel": oracle.question["kind"] == "kernel"})]


def all_zero(answers: Sequence[Answer]) -> bool:
    """Whether nothing but zeros ever came back."""
    given = [value for a in answers if a.outputs is not None for value in a.outputs.values()]
    return bool(given) and not any(bool(value.any()) for value in given)


def conditions(answers: Sequence[Answer]) -> list[Fact]:
    """A size, or an equality of sizes, that parts the right cases from the wrong ones."""
    wrong = [a.case.sizes for a in answers if a.differences and a.case.dtype == "float32"]
    right = [a.case.sizes for a in answers if a.values_right and a.case.dtype == "float32"]
    if not wrong or len(right) < 2:
        return []
    shared = set.intersection(*(set(sizes) for sizes in (*wrong, *right)))
    for name in sorted(shared):
        if all(s[name] == 1 for s in right) and all(s[name] > 1 for s in wrong):
            return [Fact("right-at-one", {"size": name})]
    pairs = [(a, b) for a in sorted(shared) for b in sorted(shared) if a < b]
    for a, b in pairs:
        same = [s[a] == s[b] for s in right]
        if all(same) and not any(s[a] == s[b] for s in wrong) and any(s[a] > 1 for s in right):
            return [Fact("right-when-equal", {"one": a, "other": b})]
    return []


def _close(one: Tensor, other: Tensor, by: float = 1e-3) -> bool:
    size = float(one.double().abs().nan_to_num(0.0).max()) if one.numel() else 0.0
    return bool(((one.double() - other.double()).abs() <= by * size + 1e-12).all())


def _spread(positions: range) -> list[int]:
    """At most POSITIONS of them, evenly, the ends included."""
    if len(positions) <= POSITIONS:
        return list(positions)
    step = (len(positions) - 1) / (POSITIONS - 1)
    return [positions[round(n * step)] for n in range(POSITIONS)]


def _changed(case: BuiltCase, name: str, axis: int, position: int) -> BuiltCase:
    """The case with one slice of an input replaced by something clearly different."""
    value = case.values[name]
    assert isinstance(value, Tensor)
    changed = value.clone()
    part = changed.select(axis, position)
    if value.dtype == torch.bool:
        part.logical_not_()
    elif value.is_floating_point():
        part.copy_(-part.flip(-1) + 1 if part.dim() else -part + 1)
    else:
        part.add_(1)
    return case.with_values(**{name: changed})
