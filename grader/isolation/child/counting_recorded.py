"""Counts what a call does from the record that torch itself keeps of its operations.

The recorder sits beneath the dispatcher's modes: code that switches them off is recorded as any
other. It knows the shapes of what an operation reads, and neither lines nor results, so that only
the work is counted, and of NumPy what `arrays` sees. Other threads are not recorded.
"""

from __future__ import annotations

import contextlib
import itertools
import math
from collections.abc import Callable, Iterable
from functools import cache
from typing import Any

import torch

from . import arrays
from .counting import Counter, Counts
from .counting_operations import COMPOSITE, EMPTY, PRODUCT, VIEW, WRITE, Operation

try:
    from torch._C._autograd import _disable_profiler_legacy, _enable_profiler_legacy
    from torch._C._profiler import ProfilerConfig, ProfilerState, _ExperimentalConfig
except ImportError:  # none of it is promised
    RECORDS = False
else:
    RECORDS = True


def recorded(
    function: Callable[..., Any], args: list[Any], kwargs: dict[str, Any], filename: str
) -> tuple[Any, Counts]:
    """As `counting.counted`; without a recorder, what it counts is next to nothing."""
    counter = Counter(filename)
    if not RECORDS:
        return function(*args, **kwargs), counter.counts
    shapes, memory, stacks, flops, modules = True, False, False, False, False
    settings = (shapes, memory, stacks, flops, modules, _ExperimentalConfig())
    _enable_profiler_legacy(ProfilerConfig(ProfilerState.CPU, *settings))
    threads: list[list[Any]] = []
    try:
        with arrays.watched(counter.array, counter.handed, counter.left):
            result = function(*args, **kwargs)
    finally:
        with contextlib.suppress(Exception):  # the function may have ended the record
            threads = _disable_profiler_legacy()
    counter.counts.work += sum(_work(events) for events in threads)
    return result, counter.counts


def _work(events: Iterable[Any]) -> int:
    """Of an operation that is made of others, its own or theirs, whichever is more: a copy that is
    written by another operation is one copy."""
    whole = 0  # of what is recorded within the operation that is open
    outer: list[tuple[int, int]] = []  # each open operation's own work, and `whole` around it
    for event in events:
        kind = event.kind()
        if kind == "push":
            operation = _operation(event.name())
            outer.append((_of(operation, event.shapes()) if operation is not None else 0, whole))
            whole = 0
        elif kind == "pop" and outer:
            own, before = outer.pop()
            whole = before + max(own, whole)
    return whole + sum(before + own for own, before in outer)


@cache
def _operation(name: str) -> Operation | None:
    """None for views and what is made of other operations: those are recorded too."""
    space, _, bare = name.partition("::")
    packet = getattr(torch.ops.aten, bare, None) if space == "aten" else None
    if packet is None:
        return None
    operation = Operation.of(getattr(packet, packet.overloads()[0]))
    return None if operation.kind in (VIEW, COMPOSITE, EMPTY) else operation


def _of(operation: Operation, shapes: list[list[int]]) -> int:
    if operation.kind == PRODUCT:
        left, right = shapes[operation.left : operation.left + 2]
        return 2 * math.prod(left) * (right[-1] if len(right) > 1 else 1)
    read = [shape[::-1] for shape in (shapes[1:] if operation.kind == WRITE else shapes)]
    sizes = itertools.zip_longest(*read, fillvalue=1)  # an index's may not go together: no matter
    return math.prod(0 if 0 in size else max(size) for size in sizes) if any(read) else 0
