"""What a submission runs on where it is not the CPU: one GPU, and what stands in for it in tests.

All functions are bound here, before a submission is loaded: to replace them in torch changes
nothing. What remains is the submission's own process, in which ctypes can undo anything; the judge
holds its own clock against what is told here (`device_host`).
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, Protocol

import torch

from . import counting

Run = Callable[[], Any]
"""One call of the entry."""

SWEEP_BYTES = 256 << 20  # at least; no GPU has a cache of half of it
SWEEPS = 200
"""Before a timed call, tens of milliseconds of work: a GPU that waited for the judge's next values
runs at a fraction of its clock, which takes milliseconds to rise. Counted, not timed, for a
submission may have replaced the clock."""
LEAD_CYCLES = 1_000_000  # about half a millisecond


class Device(Protocol):
    """A device as `device_host` sees it."""

    place: str  # of a tensor, as torch names it

    def begin(self) -> None:
        """Start it. Raises where there is none, or where it does not start."""

    def synchronize(self) -> None:
        """Wait for all its work, of every stream."""

    def mark(self) -> Any:
        """A point in the order of its work."""

    def between(self, first: Any, second: Any) -> float:
        """Seconds from one mark to another, once synchronised."""

    def settle(self) -> None:
        """Raise its clock, empty its caches of what the arguments left there, and wait."""

    def lead(self) -> None:
        """Keep it busy for a moment, so that the host's launching is not what is timed."""

    def peak(self, run: Run) -> tuple[Any, int]:
        """A call, and the bytes that it holds at its highest above what was there before."""

    def kernels(self, run: Run) -> tuple[Any, int]:
        """A call, and how many kernels it launches; copies and fills of memory are none."""


class Cuda:
    """The first CUDA device that is to be seen.

    The zygote only imports torch: it never asks CUDA anything, not even how many devices there are,
    for a child of a process in which the driver was started cannot start it again. So each
    submission, a fork of the zygote like all others, is the first of its line to start it.
    """

    place = "cuda"

    def begin(self) -> None:
        cuda: Any = torch.cuda  # half of it is untyped
        cuda.init()
        self._event, self._wait, self._sleep = cuda.Event, cuda.synchronize, cuda._sleep
        self._record, self._elapsed = cuda.Event.record, cuda.Event.elapsed_time
        self._allocated = cuda.memory_allocated
        self._reset, self._most = cuda.reset_peak_memory_stats, cuda.max_memory_allocated
        cache = cuda.get_device_properties(0).L2_cache_size
        size = max(SWEEP_BYTES, 2 * int(cache))
        self._sweep = torch.empty(size, dtype=torch.int8, device=self.place)
        self._zero = torch.Tensor.zero_

    def synchronize(self) -> None:
        self._wait()

    def mark(self) -> Any:
        event = self._event(enable_timing=True)
        self._record(event)
        return event

    def between(self, first: Any, second: Any) -> float:
        return float(self._elapsed(first, second)) / 1e3

    def settle(self) -> None:
        for _ in range(SWEEPS):
            self._zero(self._sweep)
        self._wait()

    def lead(self) -> None:
        self._sleep(LEAD_CYCLES)

    def peak(self, run: Run) -> tuple[Any, int]:
        self._wait()
        before = self._allocated()
        self._reset()
        result = run()
        self._wait()
        return result, max(0, self._most() - before)

    def kernels(self, run: Run) -> tuple[Any, int]:
        from torch._C._autograd import DeviceType
        from torch.profiler import ProfilerActivity, profile

        self._wait()
        seen: Any = profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA])
        try:
            seen.start()
        except Exception:  # no fault of the call's: then nothing is told
            return run(), 0
        try:
            result = run()
            self._wait()
        finally:
            seen.stop()
        on_device = [e for e in seen.events() if e.device_type == DeviceType.CUDA]
        # A name that the call gave to a part of its work is shown on the device too.
        names = [e.name for e in on_device if not getattr(e, "is_user_annotation", False)]
        return result, sum(not name.startswith(("Memcpy", "Memset")) for name in names)


class StandIn:
    """The CPU as a device: both clocks are one, and an operation of torch's is a kernel."""

    place = "cpu"

    def begin(self) -> None:
        pass

    def synchronize(self) -> None:
        pass

    def mark(self) -> float:
        return time.perf_counter()

    def between(self, first: float, second: float) -> float:
        return second - first

    def settle(self) -> None:
        pass

    def lead(self) -> None:
        pass

    def peak(self, run: Run) -> tuple[Any, int]:
        result, counts = counting.counted(run, [], {}, "")
        return result, counts.held

    def kernels(self, run: Run) -> tuple[Any, int]:
        result, counts = counting.counted(run, [], {}, "")
        return result, counts.operations


class Absent(StandIn):
    """A device that does not start, for tests of what is then said."""

    def begin(self) -> None:
        raise RuntimeError("no such device")


DEVICES: dict[str, type[Device]] = {"cuda": Cuda, "stand-in": StandIn, "absent": Absent}
