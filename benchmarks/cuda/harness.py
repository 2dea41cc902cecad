"""The measuring loop: a time counts only where the output is right, fresh, and nobody cheated.

Every call, warm-up and timed alike, gets inputs that were never seen before, in memory that was;
what it allocates held NaN; its output is copied in the device's own order right behind the call,
and compared with the truth, computed afterwards from copies that the call never saw. Two clocks
must agree, and nothing is faster than the hardware. All of this is in one process: it stops what
people try, not code that rewrites the loop itself, which takes a process of its own.
"""

from __future__ import annotations

import random
import statistics
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor

from benchmarks.cuda.device import Device, tampered

Function = Callable[..., Any]

HOST = 200e-6
"""Seconds of the host's by which the two clocks may differ, whatever the length of the call."""


@dataclass(frozen=True)
class Problem:
    """What is measured."""

    name: str
    make: Callable[[int], tuple[Any, ...]]  # fresh inputs from a seed; floating tensors last
    truth: Function  # of the inputs, in a dtype with digits to spare
    flops: float = 0.0
    bytes: float = 0.0


@dataclass(frozen=True)
class Limit:
    """How far an output may be off."""

    rms: float
    largest: float


@dataclass
class Outcome:
    """A subject's times in seconds, or why they do not count."""

    times: list[float] = field(default_factory=list)  # by the device
    clocks: list[float] = field(default_factory=list)  # of the same calls, by the host
    refused: str = ""

    @property
    def median(self) -> float:
        return statistics.median(self.times) if self.times else float("nan")

    def disagreement(self) -> str:
        """Why the two clocks do not agree, or nothing. A few calls may: the host has other work."""
        pairs = list(zip(self.times, self.clocks, strict=True))
        apart = [(a, b) for a, b in pairs if not 0.9 * a - HOST <= b <= 1.25 * a + HOST]
        if len(apart) <= len(pairs) // 3:
            return ""
        work, clock = apart[len(apart) // 2]
        return (
            f"the device says {1e6 * work:.0f} us and the host {1e6 * clock:.0f}: work outside its "
            "stream, or a clock that lies"
        )


class Refused(Exception):
    """A call whose time does not count; the message says why."""


def errors(out: Tensor, expected: Tensor) -> tuple[float, float]:
    """The root mean square and the largest of the differences; NaN where there is one."""
    if not out.numel():
        return 0.0, 0.0
    off = out.to(expected.dtype) - expected
    return off.pow(2).mean().sqrt().item(), off.abs().max().item()


def limit(problem: Problem, baselines: list[Function], seeds: range, multiple: float) -> Limit:
    """What `baselines`, right implementations in the same dtype, are off by, times `multiple`.

    The largest difference is one draw of many: it gets twice the room.
    """
    rms = largest = rounding = roundest = 0.0
    for seed in seeds:
        inputs = problem.make(seed)
        expected = problem.truth(*inputs)
        for baseline in baselines:
            out = baseline(*inputs)
            one, most = errors(out, expected)
            rms, largest = max(rms, one), max(largest, most)
            # Where a baseline is exact, as with a single key, one rounding is still no fault.
            eps = torch.finfo(out.dtype).eps
            one, most = errors(torch.zeros_like(expected), expected)
            rounding, roundest = max(rounding, eps / 4 * one), max(roundest, eps * most)
    return Limit(max(multiple * rms, rounding), max(2 * multiple * largest, roundest))


def twisted(inputs: tuple[Any, ...]) -> tuple[Any, ...]:
    """The same inputs, but for a part of the last floating tensor: another result, nearly alike."""
    changed = list(inputs)
    place = max(i for i, x in enumerate(inputs) if isinstance(x, Tensor) and x.is_floating_point())
    changed[place] = inputs[place].clone(memory_format=torch.contiguous_format)
    # A stretch in the middle: what a key made of ends and sums does not easily see.
    rows = changed[place].flatten(0, -2) if changed[place].dim() > 1 else changed[place][None]
    first = len(rows) // 4
    rows[first : first + max(1, len(rows) // 2)].neg_()
    return tuple(changed)


class Bench:
    """Measures subjects of one problem against each other, by turns."""

    def __init__(
        self,
        problem: Problem,
        device: Device,
        limits: Mapping[str, Limit],
        floor: float = 0.0,
        seed: int = 0,
    ) -> None:
        """`limits` by subject, "" for those without one of their own; `floor` in seconds."""
        self.problem, self.device, self.limits, self.floor = problem, device, limits, floor
        self.random = random.Random(seed)
        self.slots: list[tuple[Any, ...]] = []
        self.seeds: dict[str, int] = {}
        self.calls = 0

    def run(
        self, subjects: Mapping[str, Function], rounds: int, warm: int = 3
    ) -> dict[str, Outcome]:
        """`warm` untimed rounds, then `rounds` timed ones; in each, the subjects in a new order."""
        found = {name: Outcome() for name in subjects}
        for turn in range(warm + rounds):
            names = [name for name in subjects if not found[name].refused]
            self.random.shuffle(names)
            for name in names:
                try:
                    work, clock = self.call(name, subjects[name], turn)
                except Refused as error:
                    tampered()  # whatever it replaced before it failed is put back
                    found[name] = Outcome(refused=f"call {turn + 1}: {error}")
                    continue
                if turn >= warm:
                    found[name].times.append(work)
                    found[name].clocks.append(clock)
        for name, outcome in found.items():
            if not outcome.refused and (reason := outcome.disagreement()):
                found[name] = Outcome(refused=reason)
        return found

    def fresh(self, name: str, turn: int) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
        """New inputs for a subject, in memory that it saw before, and copies for the judge."""
        # Every third call repeats the subject's last one but for a part: a key made of a few of the
        # values, or of anything but the values, takes the two for one.
        if turn % 3 == 2:
            private = twisted(self.problem.make(self.seeds[name]))
        else:
            self.seeds[name] = self.random.getrandbits(40)
            private = self.problem.make(self.seeds[name])
        self.calls += 1
        if len(self.slots) < 2:
            self.slots.append(tuple(x.clone() if isinstance(x, Tensor) else x for x in private))
            return self.slots[-1], private
        slot = self.slots[self.calls % 2]
        for mine, new in zip(slot, private, strict=True):
            if isinstance(mine, Tensor):
                mine.copy_(new)
        return slot, private

    def poison(self, like: Tensor) -> None:
        """NaN in the memory that an allocation of this size is likely to get."""
        spoiled = [torch.full_like(like, torch.nan) for _ in range(4)]
        del spoiled

    def call(self, name: str, subject: Function, turn: int) -> tuple[float, float]:
        """One call, judged: its seconds on the device, and by the host's clock."""
        device = self.device
        given, private = self.fresh(name, turn)
        like = private[0]  # outputs have the shape, dtype and device of the first input
        self.poison(like)
        device.chill()
        device.synchronize()
        threads = set(threading.enumerate())
        begun = device.wall()
        led = device.mark()
        device.lead()
        first = device.mark()
        try:
            out = subject(*given)
        except (Exception, SystemExit) as error:
            raise Refused(f"it raised {type(error).__name__}: {error}") from error
        second = device.mark()
        if type(out) is not Tensor:
            raise Refused(f"it returned a {type(out).__name__}, which may compute later")
        # Enqueued right behind the call, in the order of its stream: what is not there yet is late.
        snapshot = out.clone()
        third = device.mark()
        device.synchronize()
        ended = device.wall()
        replaced = tampered()
        if replaced:
            raise Refused(f"it replaced {', '.join(replaced)}")
        if set(threading.enumerate()) - threads:
            raise Refused("it left a thread running")
        if (out.shape, out.dtype, out.device) != (like.shape, like.dtype, like.device):
            raise Refused(f"it returned {tuple(out.shape)} {out.dtype} on {out.device}")
        self.judge(snapshot, given, private, self.limits.get(name, self.limits[""]))
        out.fill_(torch.nan)  # whoever keeps it to return it again returns this
        work = device.between(first, second)
        # Less what is not the call's: the wait before it, the copy behind it.
        clock = ended - begun - device.between(led, first) - device.between(second, third)
        if work < self.floor:
            raise Refused(
                f"{1e6 * work:.0f} us is faster than the hardware, {1e6 * self.floor:.0f} us"
            )
        return work, clock

    def judge(
        self, out: Tensor, given: tuple[Any, ...], private: tuple[Any, ...], allowed: Limit
    ) -> None:
        """Refused unless the inputs are as they were, and the output is near the truth."""
        for mine, theirs in zip(private, given, strict=True):
            if isinstance(mine, Tensor) and not torch.equal(mine, theirs):
                raise Refused("it changed its inputs")
        torch.set_float32_matmul_precision("highest")  # whatever the subject set it to
        rms, largest = errors(out, self.problem.truth(*private))
        # Turned round, so that NaN is refused.
        if not (rms <= allowed.rms and largest <= allowed.largest):
            raise Refused(
                f"wrong values: off by {rms:.2g} (RMS; {allowed.rms:.2g} allowed), "
                f"{largest:.2g} at most ({allowed.largest:.2g})"
            )


def ratio(of: Outcome, to: Outcome) -> tuple[float, float, float]:
    """Speed relative to another subject of the same run: median, and the range of the middle half.

    Of the pairs, a round each: what slows the machine for a while slows both.
    """
    pairs = sorted(b / a for a, b in zip(of.times, to.times, strict=True) if a > 0)
    if not pairs:
        return (float("nan"),) * 3
    quarter = len(pairs) // 4
    return statistics.median(pairs), pairs[quarter], pairs[-1 - quarter]
