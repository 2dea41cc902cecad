"""What became of a submission, from how its process ended and what its exception says.

Exit statuses come from outside. The text of an exception is the submission's own: it chooses among
verdicts that all say no.
"""

from __future__ import annotations

import errno
import os
import re
import signal
from dataclasses import replace

from grader.isolation.calls import Limits, Outcome, Status
from grader.isolation.child import wire
from grader.isolation.launcher import Exit
from grader.isolation.slab import Fixed

BREACHES = {
    wire.NO_CHANNEL: "the submission shut or replaced the channel",
    wire.BROKEN: "the submission broke the code that answers for it",
}
CRASH_SIGNALS = {signal.SIGABRT, signal.SIGSEGV, signal.SIGBUS, signal.SIGKILL}
TOLD: dict[str, Status] = {
    "exception": "exception",
    "memory": "memory",
    "syntax": "syntax",
    "missing": "missing",
    "not-callable": "not-callable",
    "no-device": "no-device",
}
FULL = re.compile(rf"OSError: \[Errno (?:{errno.EFBIG}|{errno.ENOSPC}|{errno.EDQUOT})\]")
CROWDED = ("RuntimeError: can't start new thread", f"BlockingIOError: [Errno {errno.EAGAIN}]")
CLOSED = re.compile(r"(?:PermissionError|FileNotFoundError|OSError): \[Errno (?:1|2|13|18|30)\]")
PATH = re.compile(r": '(/[^'\n]*)'")


def died(exit_: Exit, outcome: Outcome, limits: Limits, tail: bytes) -> Outcome:
    """A process that ended. `tail` is the last that it printed."""
    code = exit_.code or 0
    if code in BREACHES:
        return replace(outcome, status="protocol", error=BREACHES[code])
    if code == wire.NO_FILES:
        return replace(outcome, status="resource", detail={"limit": "files"})
    near_limit = exit_.resident_bytes > limits.memory_bytes // 2
    said_so = b"bad_alloc" in tail or b"MemoryError" in tail
    if code == wire.NO_MEMORY or (exit_.signal in CRASH_SIGNALS and (near_limit or said_so)):
        return replace(outcome, status="memory", detail={"limit": limits.memory_bytes})
    if exit_.signal is not None:
        return replace(outcome, status="died", detail={"signal": exit_.signal})
    return replace(outcome, status="died", detail={"exit": code})


def with_text(outcome: Outcome, fixed: Fixed) -> Outcome:
    """An answered request, with what the answer says of an exception."""
    return replace(
        outcome,
        status=TOLD.get(fixed.status, outcome.status),
        error=fixed.error,
        traceback=fixed.traceback,
        line=fixed.line,
    )


def limited(outcome: Outcome) -> Outcome:
    """An exception that says that files or threads ran out."""
    if FULL.match(outcome.error):
        return replace(outcome, status="resource", detail={"limit": "disk"})
    if outcome.error.startswith(CROWDED):
        return replace(outcome, status="resource", detail={"limit": "processes"})
    return outcome


def refused(outcome: Outcome, scratch: str, told: bool) -> Outcome:
    """An exception where the sandbox is up: denied, if it is a refusal of the sandbox.

    Outside the submission's own folder a file that is not there is one that is hidden. `told`:
    whether the judge hears of refused calls, so that one it did not hear of can be guessed.
    """
    if not CLOSED.match(outcome.error):
        return outcome
    # The filter answers EPERM, Landlock EACCES: that call tells more than the path in its message.
    if outcome.denials and "Error: [Errno 1]" in outcome.error:
        return replace(outcome, status="denied", detail={"tried": outcome.denials[-1]})
    path = PATH.search(outcome.error)
    if path is not None and not path[1].startswith(os.path.join(scratch, "")):
        detail: dict[str, int | str | float | bool] = {"tried": "file", "path": path[1]}
        return replace(outcome, status="denied", detail=detail)
    if outcome.error.startswith("PermissionError"):  # without a path: a semaphore, for instance
        tried = "process" if told else "unnamed"
        return replace(outcome, status="denied", detail={"tried": tried})
    return outcome
