"""What the measuring loop needs of a device: two clocks, an order, a cold cache, and no tampering.

The loop itself knows neither CUDA nor the time: a test gives it a device with a clock of its own.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any, Protocol

import torch

# Bound before any submission is imported, so that replacing an attribute changes nothing here.
_perf_counter = time.perf_counter
_Event = torch.cuda.Event
_synchronize = torch.cuda.synchronize


class Device(Protocol):
    """A device as the measuring loop sees it. All times are in seconds."""

    place: torch.device
    cache: float  # bytes of its last cache

    def wall(self) -> float:
        """The host's clock."""

    def mark(self) -> Any:
        """A point in the order of the device's work."""

    def between(self, first: Any, second: Any) -> float:
        """Device time from one mark to another, once synchronised."""

    def synchronize(self) -> None:
        """Waits for all work, of every stream."""

    def lead(self) -> None:
        """Keeps the device busy for a moment, so that the host's launching is not what is timed."""

    def chill(self) -> None:
        """Empties the caches of what the inputs left there."""


class Cpu:
    """The host as a device: both clocks are one, and nothing is asynchronous."""

    place = torch.device("cpu")
    cache = 0.0

    def __init__(self, clock: Callable[[], float] = _perf_counter) -> None:
        self.wall = clock
        self.mark = clock

    def between(self, first: float, second: float) -> float:
        return second - first

    def synchronize(self) -> None:
        pass

    lead = chill = synchronize


class Cuda:
    """The current CUDA device."""

    def __init__(self) -> None:
        self.place = torch.device("cuda", torch.cuda.current_device())
        self.cache = float(torch.cuda.get_device_properties(self.place).L2_cache_size)
        size = max(256 << 20, 2 * int(self.cache))  # bytes; twice the cache leaves nothing in it
        self._sweep = torch.empty(size, dtype=torch.int8, device=self.place)

    def wall(self) -> float:
        return _perf_counter()

    def mark(self) -> Any:
        event = _Event(enable_timing=True)
        event.record()
        return event

    def between(self, first: Any, second: Any) -> float:
        return float(first.elapsed_time(second)) / 1e3

    def synchronize(self) -> None:
        _synchronize(self.place)

    def lead(self) -> None:
        torch.cuda._sleep(1_000_000)  # cycles: half a millisecond

    def chill(self) -> None:
        self._sweep.zero_()


_WATCHED: list[tuple[Any, str]] = [
    (threading, "enumerate"),
    *((time, name) for name in ("perf_counter", "perf_counter_ns", "monotonic", "time", "sleep")),
    *((torch.cuda, name) for name in ("Event", "synchronize", "current_stream", "_sleep")),
    *((_Event, name) for name in ("record", "elapsed_time", "synchronize", "query")),
    *((torch, name) for name in ("equal", "matmul", "softmax", "full", "randn", "empty")),
    *((torch.Tensor, name) for name in (
        "abs", "amax", "clone", "copy_", "double", "fill_", "float", "isnan", "item", "max", "mean",
        "pow", "sub", "to", "__sub__", "__matmul__", "zero_",
    )),
]  # fmt: skip
_ORIGINAL = [(owner, name, name in vars(owner), getattr(owner, name)) for owner, name in _WATCHED]


def tampered() -> list[str]:
    """What of the clocks and of torch was replaced since this module was imported; put back."""
    found = []
    for owner, name, own, value in _ORIGINAL:
        if getattr(owner, name) is value:
            continue
        found.append(f"{getattr(owner, '__name__', owner)}.{name}")
        if own:
            setattr(owner, name, value)
        else:
            delattr(owner, name)  # it was inherited
    return found
