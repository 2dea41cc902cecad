"""Peak memory against length, as a slope on log-log paper: 1 is linear, 2 is quadratic."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import torch

from benchmarks.cuda import problems
from benchmarks.cuda.harness import Function
from benchmarks.cuda.problems import Shape

LENGTHS = (1024, 2048, 4096, 8192)
SHAPE = Shape(1, 8, 8, 0, 0, 128, True, torch.bfloat16)


def slope(xs: Sequence[float], ys: Sequence[float]) -> float:
    """Of the least-squares line through (log x, log y)."""
    points = [(math.log(x), math.log(y)) for x, y in zip(xs, ys, strict=True)]
    middle_x, middle_y = (sum(axis) / len(points) for axis in zip(*points, strict=True))
    across = sum((x - middle_x) ** 2 for x, _ in points)
    return sum((x - middle_x) * (y - middle_y) for x, y in points) / across


def cuda_peak(call: Callable[[], object]) -> int:
    """Bytes that a call allocates at its highest, above what was there; its output included."""
    call()  # what is compiled or allocated once is not the call's
    torch.cuda.synchronize()
    before = torch.cuda.memory_allocated()
    torch.cuda.reset_peak_memory_stats()
    call()
    torch.cuda.synchronize()
    return torch.cuda.max_memory_allocated() - before


def slopes(
    subjects: Mapping[str, Function],
    place: torch.device,
    peak: Callable[[Callable[[], object]], int] = cuda_peak,
    lengths: Sequence[int] = LENGTHS,
) -> dict[str, tuple[float, list[int]]]:
    """For each subject its slope, and the peaks in bytes."""
    found = {}
    for name, function in subjects.items():
        peaks = []
        for length in lengths:
            shape = replace(SHAPE, queries=length, keys=length)
            inputs = problems.attention_inputs(shape, place, 0)
            peaks.append(peak(lambda f=function, i=inputs: f(*i)))
        found[name] = (slope(lengths, peaks), peaks)
    return found
