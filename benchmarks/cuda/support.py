"""Which shapes a kernel takes: values against the truth, time per FLOP against its neighbours."""

from __future__ import annotations

import itertools
import statistics
from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import torch

from benchmarks.cuda import problems
from benchmarks.cuda.device import Device
from benchmarks.cuda.harness import Function, errors, limit
from benchmarks.cuda.problems import Shape
from benchmarks.cuda.roofline import seconds

WIDTHS = (64, 80, 96, 128, 256)
LENGTHS = (1, 127, 128, 129, 1000, 4096)
UNEQUAL = ((1, 4096), (127, 128), (129, 1000), (1000, 4096), (128, 127))  # T, S
GROUPS = (1, 4, 8)
DTYPES = (torch.bfloat16, torch.float16, torch.float32)
HEADS = 8

TIMED_FROM = 1000
"""Shorter than this, launching takes longer than the work, and time per FLOP says nothing."""

FAR = 2.5
"""A shape this many times slower per FLOP than the median of its neighbours is listed."""


def shapes() -> Iterable[Shape]:
    """The whole matrix, the dtypes taking turns last: a run cut short has seen every width."""
    lengths = [(n, n) for n in LENGTHS] + list(UNEQUAL)
    for dtype, (queries, keys), width, group, causal in itertools.product(
        DTYPES, lengths, WIDTHS, GROUPS, (False, True)
    ):
        if not causal or queries <= keys:
            yield Shape(1, HEADS, HEADS // group, queries, keys, width, causal, dtype)


@dataclass
class Cell:
    """What became of one shape."""

    shape: Shape
    failure: str = ""
    seconds: float = 0.0  # 0 where it was not timed
    neighbours: float = 0.0  # how many times slower per FLOP than their median

    @property
    def rate(self) -> float:
        return self.shape.flops / self.seconds if self.seconds else 0.0


def check(
    function: Function,
    device: Device,
    cases: Iterable[Shape],
    multiple: float = 4.0,
    enough: Callable[[], bool] = lambda: False,
) -> tuple[list[Cell], int]:
    """`function` on each shape; how many shapes were left, once there was no time for more."""
    cells, left = [], 0
    for shape in cases:
        if enough():
            left += 1
            continue
        cell = Cell(shape)
        cells.append(cell)
        try:
            cell.failure = _values(function, device, shape, multiple)
            if not cell.failure and min(shape.queries, shape.keys) >= TIMED_FROM:
                inputs = problems.attention_inputs(shape, device.place, 1)
                cell.seconds = seconds(device, lambda i=inputs: function(*i), 3)
        except Exception as error:
            cell.failure = f"{type(error).__name__}: {str(error).splitlines()[0][:200]}"
    _compare(cells)
    return cells, left


def _values(function: Function, device: Device, shape: Shape, multiple: float) -> str:
    """Why the output is not right, or nothing."""
    problem = problems.attention(shape, device.place)
    # In half precision one fused and one plain baseline; the plain one rounds the scores, and by
    # that grows the room: this asks for support, not for the last digit, which `speed` looks at.
    baselines = [problems.attention_fused, problems.attention_naive]
    allowed = limit(problem, baselines, range(1), multiple)
    inputs = problem.make(1)
    out = function(*inputs)
    if (out.shape, out.dtype) != (inputs[0].shape, inputs[0].dtype):
        return f"it returned {tuple(out.shape)} {out.dtype}"
    rms, largest = errors(out, problem.truth(*inputs))
    if rms <= allowed.rms and largest <= allowed.largest:
        return ""
    return f"off by {rms:.2g} (RMS; {allowed.rms:.2g} allowed), {largest:.2g} at most"


def _compare(cells: list[Cell]) -> None:
    """Neighbours: the same dtype, lengths and mask, under other widths and groups."""
    near: dict[Any, list[Cell]] = defaultdict(list)
    for cell in cells:
        if cell.seconds:
            s = cell.shape
            near[s.dtype, s.queries, s.keys, s.causal].append(cell)
    for group in near.values():
        middle = statistics.median(cell.rate for cell in group)
        for cell in group:
            cell.neighbours = middle / cell.rate


def table(cells: list[Cell], left: int) -> list[str]:
    """Lines for people."""
    lines = []
    for dtype in dict.fromkeys(cell.shape.dtype for cell in cells):
        for width in dict.fromkeys(cell.shape.width for cell in cells):
            some = [c for c in cells if c.shape.dtype == dtype and c.shape.width == width]
            good = sum(not c.failure for c in some)
            best = max((c.rate for c in some), default=0.0) / 1e12
            name = str(dtype).removeprefix("torch.")
            lines.append(
                f"{name:9} D={width:<4} {good} of {len(some)} right, best {best:.0f} TFLOP/s"
            )
    lines += [f"FAILED {c.shape.name}: {c.failure}" for c in cells if c.failure]
    lines += [
        f"SLOW {c.shape.name}: {c.neighbours:.1f} times its neighbours' time per FLOP"
        for c in cells
        if c.neighbours > FAR
    ]
    if left:
        lines.append(f"NOT MEASURED: {left} shapes, for want of time")
    return lines


def as_json(cells: list[Cell], left: int) -> dict[str, Any]:
    return {
        "shapes": len(cells),
        "right": sum(not c.failure for c in cells),
        "not_measured": left,
        "failed": {c.shape.name: c.failure for c in cells if c.failure},
        "slow": {c.shape.name: c.neighbours for c in cells if c.neighbours > FAR},
        "tflops": {c.shape.name: c.rate / 1e12 for c in cells if c.seconds},
    }
