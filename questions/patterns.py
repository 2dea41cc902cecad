"""Whether a regular expression takes forever: it is tried, on texts that make bad ones do so."""

from __future__ import annotations

import re
import signal
from collections.abc import Iterator
from types import FrameType

PATIENCE = 0.5  # seconds of processor time for all texts; honest patterns take a tenth of it
LONGEST_RUN = 250
MOST_LETTERS = 40


class _TooLong(Exception):
    """Raised by the timer."""


def is_endless(pattern: str) -> bool:
    """Whether `pattern`, which compiles, takes too long on texts of a few hundred characters.

    Only where this is the main thread of a system with timers; elsewhere nothing is tried.
    """

    def stop(number: int, frame: FrameType | None) -> None:
        raise _TooLong

    try:
        before = signal.signal(signal.SIGVTALRM, stop)
    except (AttributeError, ValueError):
        return False
    try:
        signal.setitimer(signal.ITIMER_VIRTUAL, PATIENCE)
        compiled = re.compile(pattern)
        for text in _texts(pattern):
            compiled.search(text)
    except _TooLong:
        return True
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)
    return False


def _texts(pattern: str) -> Iterator[str]:
    """Runs of what the pattern may repeat, with an end that it does not expect."""
    words = re.findall(r"[a-z]{2,}", pattern)[:MOST_LETTERS]
    letters = dict.fromkeys(c for c in pattern if c.isalnum() or c in " -,.")
    for unit in (*list(letters)[:MOST_LETTERS], "a", "0", " ", "a ", *words):
        run = (unit * LONGEST_RUN)[:LONGEST_RUN]
        yield run + "\n!"
        yield run[:30] + "\n!"
