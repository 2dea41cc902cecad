"""The bounds on costs: what breaks them, in what was counted and in what was read from outside."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import torch

from grader.isolation.calls import Counts, Made, Outcome, Usage
from grader.judging.cases import BuiltCase
from questions.sizes import evaluate

AFFORDABLE = 0.4
"""Seconds that a larger call may take by estimate; else the sizes are halved until it does not."""

CLEAR = 1.8
"""Times a bound from outside above which one reading is enough."""

SHORTEST = 0.02
"""Seconds of processor time below which growth is not judged."""

LEAST = 0.002
"""What a smaller call is taken to use at least: below, start-up weighs more than the work."""

MEMORY_NOISE = 2 << 20
"""Bytes: what a library may keep at first use of a kernel, and the allocator's own."""


@dataclass(frozen=True)
class Excess:
    """A bound that was broken; `how` is "tensor", "computed", "work", "time" or "memory"."""

    how: str
    sizes: Mapping[str, int]
    grown: Mapping[str, float] = field(default_factory=dict)  # symbol -> how many times larger
    ratio: float = 0.0
    made: Made | None = None
    line: int | None = None
    usage: tuple[Usage, Usage] | None = None
    allowed: float = 0.0

    @property
    def times_over(self) -> float:
        """How many times the bound it is."""
        return self.ratio / self.allowed

    @property
    def clear(self) -> bool:
        """Whether noise hardly ever makes that much: one reading more is to confirm it."""
        return self.times_over > CLEAR


def affordable(
    sizes: Mapping[str, int],
    grow: Mapping[str, int],
    seconds: float,
    most: float = math.inf,
) -> Mapping[str, int]:
    """The sizes of the larger call: halved while a right answer would take too long, but at least
    twice the smaller ones.

    `seconds` is what the smaller call took; a right answer's time grows by the product of the
    sizes' growth at most, or by `most`. It may be slow: loops over numbers.
    """
    halvings = 0
    while True:
        larger = {name: max(2 * sizes[name], size >> halvings) for name, size in grow.items()}
        factor = math.prod(size / sizes[name] for name, size in larger.items())
        if grow:
            factor = min(factor, most ** growth(sizes, grow, larger)[1])
        least = all(size == 2 * sizes[name] for name, size in larger.items())
        if least or seconds * factor <= AFFORDABLE:
            return {**sizes, **larger}
        halvings += 1


def busy(outcome: Outcome) -> float:
    """Seconds that a call computed; one that sleeps is not slow."""
    return outcome.usage.cpu_seconds if outcome.usage is not None else outcome.seconds


def growth(
    sizes: Mapping[str, int], grow: Mapping[str, int], larger: Mapping[str, int]
) -> tuple[dict[str, float], float]:
    """How many times each grown symbol is larger, and which part of the growth asked for that is,
    as an exponent."""
    times = {name: larger[name] / sizes[name] for name in grow}
    whole = max(size / sizes[name] for name, size in grow.items())
    return times, math.log(max(times.values())) / math.log(whole)


def bound(cost: Mapping[str, Any], larger: Mapping[str, int]) -> float:
    """How many times a count may grow; less than was asked for where the sizes were halved."""
    return float(cost["at_most"] ** growth(cost["sizes"], cost["grow"], larger)[1])


def counted_excess(
    cost: Mapping[str, Any], larger: Mapping[str, int], small: Counts, large: Counts
) -> Excess | None:
    """The bound on a count, if it is broken."""
    how = {"work": "work", "largest-tensor": "tensor", "largest-computed": "computed"}
    made = large.tensor if cost["measure"] == "largest-tensor" else large.computed
    before = small.tensor if cost["measure"] == "largest-tensor" else small.computed
    if cost["measure"] == "work":
        now, then, made, line = large.work, small.work, None, large.line
    else:
        now = made.elements if made else 0
        then = before.elements if before else 0
        line = made.line if made else None
    excess = Excess(how[cost["measure"]], larger, made=made, line=line)
    if not cost["grow"]:
        allowed = float(evaluate(cost["at_most"], cost["sizes"]))
        return replace(excess, ratio=now, allowed=allowed) if now > allowed else None
    times, _ = growth(cost["sizes"], cost["grow"], larger)
    allowed, ratio = bound(cost, larger), now / max(then, 1)
    if ratio <= allowed:
        return None
    return replace(excess, grown=times, ratio=ratio, allowed=allowed)


def outside_excess(
    outside: Mapping[str, Any],
    larger: Mapping[str, int],
    small: Usage | None,
    large: Usage,
    known_bytes: int,
) -> Excess | None:
    """The bound on a reading, if it is broken. `known_bytes`: arguments and results."""
    if outside["time"] is not None and small is not None and large.cpu_seconds > SHORTEST:
        times, part = growth(outside["sizes"], outside["grow"], larger)
        ratio = large.cpu_seconds / max(small.cpu_seconds, LEAST)
        allowed = outside["time"] ** part
        if ratio > allowed:
            return Excess("time", larger, times, ratio, usage=(small, large), allowed=allowed)
    if outside["bytes"] is not None:
        rise = large.peak_bytes - known_bytes
        bound = max(evaluate(outside["bytes"], larger), MEMORY_NOISE)
        if rise > bound:
            usage = Usage(large.cpu_seconds, rise)
            return Excess("memory", larger, ratio=rise, usage=(usage, usage), allowed=bound)
    return None


def entries_of(case: BuiltCase) -> int:
    """Of its tensor arguments."""
    return sum(value.numel() for value in case.values.values() if isinstance(value, torch.Tensor))


def bytes_of(case: BuiltCase) -> int:
    """Of its arguments and its results, the latter both as they come and as they are handed on."""
    tensors = [value for value in case.values.values() if isinstance(value, torch.Tensor)]
    given = sum(value.numel() * value.element_size() for value in tensors)
    results = sum(
        math.prod(spec.shape) * torch.empty(0, dtype=getattr(torch, spec.dtypes[0])).element_size()
        for spec in case.outputs.values()
    )
    return given + 2 * results
