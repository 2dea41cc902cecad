"""What a process uses, read from outside it: nothing that runs in it can hide there.

Linux only: elsewhere a reading is None, and the counts from inside stand alone.
"""

from __future__ import annotations

import contextlib
import os
import sys
import time

from grader.isolation.calls import Usage

SCHEDULED = 2  # CPUCLOCK_SCHED: nanoseconds of all threads, the ended ones too
RESET = "/proc/{}/clear_refs"  # "5" resets the mark of the peak, where we may
THREADS_AT = 17  # in /proc/PID/stat, behind the name of the program
RESTING, GLANCE = 0.01, 5e-5  # seconds for a process to rest after its answer, and between looks
PAGE = os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 4096


def threads(pid: int) -> int:
    """How many threads a process has; 0 where it is gone, or nobody tells."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            return int(file.read().rpartition(b")")[2].split()[THREADS_AT])
    except (OSError, IndexError):
        return 0


class Meter:
    """The processor time and the peak of the memory of a process between `begin` and `end`.

    `last` is the processor time at which an earlier call of the same process `ended`.
    """

    def __init__(self, pid: int, last: float | None = None) -> None:
        self.pid = pid
        self.last = last
        self.cpu = self.ended = 0.0
        self.peak = 0
        self.exact = False  # whether the system's own mark of the peak begins anew
        self.gone = sys.platform != "linux"

    def begin(self) -> None:
        """Note where the process stands."""
        if self.gone:
            return
        with contextlib.suppress(OSError), open(RESET.format(self.pid), "wb", 0) as file:
            file.write(b"5")
            self.exact = True
        try:
            self.resident, self.marked = self._memory()
            self.peak, self.cpu = self.resident, self._cpu()
        except OSError:  # it is dead, as the call will show
            self.gone = True

    def sample(self) -> None:
        """Look at the memory meanwhile: an earlier, higher peak hides a later one from the mark."""
        if self.exact or self.gone:
            return
        with (
            contextlib.suppress(OSError),
            open(f"/proc/{self.pid}/statm", encoding="ascii") as file,
        ):
            self.peak = max(self.peak, int(file.read().split()[1]) * PAGE)

    def end(self) -> Usage | None:
        """What was used since. None where the system does not tell."""
        if self.gone:
            return None
        try:
            resident, marked = self._memory()
            self._let_rest()
            self.ended = self._cpu()
        except OSError:
            return None
        if self.exact or marked > self.marked:
            self.peak = max(self.peak, marked)
        between = self.cpu - self.last if self.last is not None else 0.0
        return Usage(self.ended - self.cpu, max(self.peak, resident) - self.resident, between)

    def _let_rest(self) -> None:
        """Wait, not for long, until it waits for us: of a process that is on another processor, as
        it is for a moment after its answer, Linux tells what it had used at the last tick, which is
        milliseconds ago."""
        deadline = time.monotonic() + RESTING
        while time.monotonic() < deadline:
            with open(f"/proc/{self.pid}/stat", "rb") as file:
                state = file.read().rpartition(b")")[2].split()[0]
            if state != b"R":
                return
            time.sleep(GLANCE)

    def _cpu(self) -> float:
        return time.clock_gettime((~self.pid << 3) | SCHEDULED)

    def _memory(self) -> tuple[int, int]:
        """Bytes resident now, and at most so far."""
        found = {"VmRSS": 0, "VmHWM": 0}
        with open(f"/proc/{self.pid}/status", encoding="ascii", errors="replace") as file:
            for line in file:
                name, _, rest = line.partition(":")
                if name in found:
                    found[name] = int(rest.split()[0]) * 1024
        return found["VmRSS"], found["VmHWM"]
