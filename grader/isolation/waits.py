"""Waiting for children with what the system has: Python has no waitid on macOS before 3.13.

Stdlib only: the zygote loads this file by its path.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
from typing import NamedTuple

RESIDENT_UNIT = 1 if sys.platform == "darwin" else 1024  # bytes, of ru_maxrss


class End(NamedTuple):
    """Wait status, largest resident size in KiB, seconds of processor time."""

    status: int
    resident_kib: int
    cpu_seconds: float


def reap(pid: int) -> End | None:
    """How the child ended, with its process group killed; None while it runs."""
    peeks = hasattr(os, "waitid")
    if peeks:
        if os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None:
            return None
        # Before the pid is freed: afterwards the group's number could be someone else's.
        kill_group(pid)
    ended, status, usage = os.wait4(pid, 0 if peeks else os.WNOHANG)
    if not ended:
        return None
    if not peeks:  # numbers go round: this one is not given out again in the next instant
        kill_group(pid)
    resident = usage.ru_maxrss * RESIDENT_UNIT // 1024
    return End(status, resident, usage.ru_utime + usage.ru_stime)


def is_stopped(pid: int) -> bool:
    """Whether a child was stopped since this was asked last. An ended one is none."""
    if hasattr(os, "waitid"):
        with contextlib.suppress(ChildProcessError):
            return os.waitid(os.P_PID, pid, os.WSTOPPED | os.WNOHANG) is not None
    return False


def ended_by(pid: int) -> int | None:
    """The signal that killed a child, 0 for one that left by itself; None while it runs.

    The child stays to be reaped, where the system can leave it.
    """
    if hasattr(os, "waitid"):
        ended = os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        if ended is None:
            return None
        return ended.si_status if ended.si_code in (os.CLD_KILLED, os.CLD_DUMPED) else 0
    try:
        found, status = os.waitpid(pid, os.WNOHANG)
    except ChildProcessError:  # it was told before
        return 0
    if not found:
        return None
    return os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0


def kill_group(pid: int) -> None:
    """Kill the process group that `pid` leads or led, if it has one that is ours."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, signal.SIGKILL)
