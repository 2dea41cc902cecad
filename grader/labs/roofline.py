"""What this machine can do at most, as measured."""

from __future__ import annotations

from collections.abc import Callable

import torch

from grader.labs.roof import Roof
from grader.labs.timing import interleaved, timed


def measured(quick: bool, rounds: int, unit: float, step: Callable[[], None]) -> Roof:
    """The fastest of several large products, and of several large copies and sums.

    A copy counts its reads and its writes. A sum only reads, as a decode step mostly does; the
    faster of the two is the roof. The tensors are larger than the caches, but in a quick run.
    """
    n, count = (256, 1 << 18) if quick else (2048, 1 << 26)
    a, b, out = torch.ones(n, n), torch.ones(n, n), torch.empty(n, n)
    source, target = torch.ones(count), torch.empty(count)
    tasks = {
        "product": timed(lambda: torch.matmul(a, b, out=out)),
        "copy": timed(lambda: target.copy_(source)),
        "sum": timed(source.sum),
    }
    seconds = {name: min(times) for name, times in interleaved(tasks, rounds, unit, step).items()}
    moved = {"copy": 2 * source.nbytes, "sum": source.nbytes}
    bandwidth = max(moved[name] / max(seconds[name], 1e-9) for name in moved)
    return Roof(2 * n**3 / max(seconds["product"], 1e-9), bandwidth)
