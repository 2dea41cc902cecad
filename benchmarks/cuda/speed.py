"""Speed as a ratio to torch's own, by the measuring loop; and the cheats, which it must refuse."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import torch

from benchmarks.cuda import problems
from benchmarks.cuda.cheats import CHEATS, Cheat
from benchmarks.cuda.device import Device
from benchmarks.cuda.harness import Bench, Function, Outcome, Problem, limit, ratio
from benchmarks.cuda.problems import Caches, Shape
from benchmarks.cuda.roofline import Peaks

BF16, FP16, FP32 = torch.bfloat16, torch.float16, torch.float32

BAR_SHAPE = Shape(2, 32, 32, 4096, 4096, 128, True, BF16)
BAR = 0.7
"""Of torch's speed, for BAR_SHAPE."""

FUSED, AGAIN, OURS, NAIVE = "torch fused", "torch fused again", "reference", "naive"

STEADY = 0.05
"""Torch against itself may be off by this much; beyond it no ratio of the run is believed."""


@dataclass
class Contest:
    """One problem, its implementations, and how each may be off."""

    problem: Problem
    subjects: dict[str, Function]
    element: int  # bytes
    bar: float = 0.0
    found: dict[str, Outcome] = field(default_factory=dict)
    floor: float = 0.0

    def speed(self, name: str) -> tuple[float, float, float]:
        """Relative to torch's; NaN where one of the two was refused."""
        if self.found[name].refused or self.found[FUSED].refused:
            return (float("nan"),) * 3
        return ratio(self.found[name], self.found[FUSED])

    @property
    def steady(self) -> bool:
        return abs(self.speed(AGAIN)[0] - 1) <= STEADY


def contests(ours: Mapping[str, Function], place: torch.device) -> list[Contest]:
    """What is measured on a GPU, the bar first."""
    shapes = [
        BAR_SHAPE,
        Shape(2, 32, 4, 4096, 4096, 128, True, BF16),
        Shape(2, 32, 32, 4096, 4096, 128, False, BF16),
        Shape(2, 32, 32, 4096, 4096, 64, True, BF16),
        Shape(2, 16, 16, 4096, 4096, 256, True, BF16),
        Shape(2, 32, 32, 4096, 4096, 80, True, FP16),
        Shape(16, 32, 32, 1000, 1000, 128, True, BF16),
        Shape(1, 16, 16, 2048, 2048, 128, True, FP32),
    ]
    found = [
        attention(shape, ours["attention"], place, BAR if shape == BAR_SHAPE else 0.0)
        for shape in shapes
    ]
    for sizes in (Caches(16, 32, 8, 8192, 128, BF16), Caches(1, 32, 8, 65536, 128, BF16)):
        found.append(
            contest(
                problems.decode(sizes, place), ours["decode"],
                problems.decode_fused, problems.decode_naive, sizes.dtype,
            )
        )  # fmt: skip
    sizes = Caches(16, 32, 8, 8192, 128, BF16)
    paged = problems.paged_fused
    found.append(contest(problems.paged(sizes, place), ours["paged"], paged, paged, sizes.dtype))
    for rows, cols, dtype in ((16384, 4096, BF16), (8192, 16384, FP32), (4096, 50257, BF16)):
        found.append(
            contest(
                problems.softmax(rows, cols, dtype, place), ours["softmax"],
                problems.softmax_fused, problems.softmax_naive, dtype,
            )
        )  # fmt: skip
    return found


def attention(shape: Shape, ours: Function, place: torch.device, bar: float = 0.0) -> Contest:
    return contest(
        problems.attention(shape, place), ours,
        problems.attention_fused, problems.attention_naive, shape.dtype, bar,
    )  # fmt: skip


def contest(
    problem: Problem,
    ours: Function,
    fused: Function,
    naive: Function,
    dtype: torch.dtype,
    bar: float = 0.0,
) -> Contest:
    subjects = {FUSED: fused, AGAIN: lambda *inputs: fused(*inputs), OURS: ours, NAIVE: naive}
    return Contest(problem, subjects, dtype.itemsize, bar)


def multiple(element: int) -> float:
    """Times the baseline's error. In half precision twice finds sums kept in it; see `cheats`."""
    return 2.0 if element == 2 else 8.0


def hold(one: Contest, device: Device, peaks: Peaks | None, rounds: int) -> None:
    """Measures the subjects of a contest by turns."""
    factor = multiple(one.element)
    limits = {
        "": limit(one.problem, [one.subjects[FUSED]], range(2), factor),
        # It rounds the scores themselves in half precision: slow, not wrong.
        NAIVE: limit(one.problem, [one.subjects[NAIVE]], range(2), factor),
    }
    if peaks:
        one.floor = peaks.floor(one.problem.flops, one.problem.bytes, one.element)
    one.found = Bench(one.problem, device, limits, one.floor).run(one.subjects, rounds)


def refusals(
    device: Device,
    shape: Shape,
    peaks: Peaks | None,
    rounds: int = 6,
    cheats: tuple[Cheat, ...] = CHEATS,
    honest: Function = problems.attention_fused,
) -> dict[str, str]:
    """For each cheat why it was refused, or nothing where it got through; "honest" among them."""
    problem = problems.attention(shape, device.place)
    element = shape.dtype.itemsize
    limits = {"": limit(problem, [problems.attention_fused], range(2), multiple(element))}
    floor = peaks.floor(problem.flops, problem.bytes, element) if peaks else 0.0
    found = Bench(problem, device, limits, floor).run({"honest": honest}, rounds)
    told = {"honest": found["honest"].refused}
    for cheat in cheats:
        if cheat.cuda and device.place.type != "cuda":
            continue
        # By itself: what one cheat breaks is not the next one's.
        bench = Bench(problem, device, limits, floor)
        told[cheat.name] = bench.run({cheat.name: cheat.make(honest)}, rounds)[cheat.name].refused
    return told


def table(held: list[Contest]) -> list[str]:
    """Lines for people."""
    lines = []
    for one in held:
        lines.append(f"{one.problem.name}  (roofline {1e6 * one.floor:.0f} us)")
        for name, outcome in one.found.items():
            if outcome.refused:
                lines.append(f"  {name:18} REFUSED {outcome.refused}")
                continue
            middle, low, high = one.speed(name)
            clock = sorted(outcome.clocks)[len(outcome.clocks) // 2]
            lines.append(
                f"  {name:18} {1e6 * outcome.median:9.0f} us (host {1e6 * clock:.0f})  "
                f"{middle:.2f} of torch's speed ({low:.2f} to {high:.2f})  "
                f"{100 * one.floor / outcome.median:.0f}% of the roofline"
            )
        if not one.steady:
            lines.append("  UNSTEADY: torch against itself is not 1; believe none of these")
        elif one.bar:
            met = "met" if one.speed(OURS)[0] >= one.bar else "NOT MET"
            lines.append(f"  bar {one.bar} of torch's speed: {met}")
    return lines


def as_json(held: list[Contest]) -> list[dict[str, Any]]:
    return [
        {
            "problem": one.problem.name,
            "floor_seconds": one.floor,
            "steady": one.steady,
            "bar": one.bar,
            "subjects": {
                name: {
                    "refused": outcome.refused,
                    "seconds": outcome.times,
                    "clock_seconds": outcome.clocks,
                    "speed": one.speed(name),
                }
                for name, outcome in one.found.items()
            },
        }
        for one in held
    ]
