"""Times of calls: repeated in turn, in units long enough for the clock.

The clock is the processor time of the process that computes, on one thread: what other programs
take from it by being scheduled does not count. What they do to the caches and to memory does.
"""

from __future__ import annotations

import gc
import math
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

from grader.isolation.child import allocator

Task = Callable[[int], float]
"""Makes so many calls on end; the processor time of all, in seconds."""

UNIT = 2e-3
"""Seconds of one timed unit, at least: calls that are shorter are timed several at once."""

LONGEST = 0.1
"""Seconds of waiting for one unit, unless a single call takes longer."""

PATIENCE, FEWEST = 30.0, 3
"""Seconds for all repetitions of a set of tasks, unless the fewest take longer."""


@contextmanager
def freed_memory_kept() -> Iterator[None]:
    """As in a submission's process that is timed. What the system hands out page by page is half
    the time of whole attention at S = 4096."""
    allocator.keep_freed()
    try:
        yield
    finally:
        allocator.as_at_first()


def timed(function: Callable[[], object]) -> Task:
    """A task that calls `function` in this process."""

    def task(times: int) -> float:
        began = time.process_time()
        for _ in range(times):
            function()
        return max(time.process_time() - began, times * 1e-9)  # of a coarse clock

    return task


def interleaved(
    tasks: Mapping[str, Task], rounds: int, unit: float, step: Callable[[], None]
) -> dict[str, list[float]]:
    """Seconds a call, up to `rounds` times for each task: one unit of each in turn, forwards and
    then backwards, so that a slow moment meets them alike. `step` is called after each round."""
    times, waits = {}, 0.0
    for name, task in tasks.items():
        times[name], waited = _calls(task, unit)
        waits += waited
    # A file of a learner's may be slow: fewer repetitions, rather than a lab without an end.
    rounds = max(min(rounds, FEWEST), min(rounds, math.floor(PATIENCE / waits)))
    found: dict[str, list[float]] = {name: [] for name in tasks}
    collecting = gc.isenabled()
    gc.disable()
    try:
        for turn in range(rounds):
            for name in tasks if turn % 2 == 0 else reversed(list(tasks)):
                found[name].append(tasks[name](times[name]) / times[name])
            step()
    finally:
        if collecting:
            gc.enable()
    return found


def _calls(task: Task, unit: float) -> tuple[int, float]:
    """How many calls make a unit, after one that warms up; the seconds of waiting for that."""
    task(1)
    began = time.perf_counter()
    one = max(task(1), 1e-7)
    waited = max(time.perf_counter() - began, 1e-7)
    calls = max(1, min(math.ceil(unit / one), math.floor(LONGEST / waited)))
    return calls, calls * waited
