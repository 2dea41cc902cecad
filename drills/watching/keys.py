"""Single keys from the person at the terminal, while something else goes on."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import sys
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any

_PASTE = 16  # so many characters at once were not typed
_SEQUENCE = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|O?.)?")  # an arrow, Home, Alt with a letter
ENDED = "\x04"  # Ctrl-D; also what is read where the terminal is gone


class Keys:
    """Inside, the terminal hands over each key at once and shows none; Ctrl-C and Ctrl-Z work as
    ever. However it is left, the terminal is as it was: on SIGTERM and SIGHUP too, which raise
    SystemExit. `again` is called after fg, when the shell's lines stand where ours were.

    A context manager. Raises ImportError where the system has no such terminals.
    """

    def __init__(self, again: Callable[[], None]) -> None:
        import termios

        self._termios = termios
        self._again = again
        self._terminal = sys.stdin.fileno()
        self._before = termios.tcgetattr(self._terminal)
        self._single = False
        self._handlers: dict[int, Any] = {}

    def __enter__(self) -> Keys:
        self._handlers = {
            signal.SIGTSTP: signal.signal(signal.SIGTSTP, self._stop),
            signal.SIGCONT: signal.signal(signal.SIGCONT, lambda *_: self._resume()),
            signal.SIGTERM: signal.signal(signal.SIGTERM, _leave),
            signal.SIGHUP: signal.signal(signal.SIGHUP, _leave),
        }
        self.descriptor()
        return self

    def __exit__(self, *_: object) -> None:
        self._restore()
        for number, handler in self._handlers.items():
            signal.signal(number, handler)

    def descriptor(self) -> int | None:
        """What to wait on for a key; None while the shell keeps us in the background."""
        if not self._in_front():
            return None
        if not self._single:
            self._take()
        return self._terminal

    def read(self) -> str:
        """The keys that wait, without arrows and other sequences; ENDED at the end of input."""
        try:
            typed = os.read(self._terminal, 1024)
        except OSError:
            return ENDED
        if not typed:
            return ENDED
        keys = _SEQUENCE.sub("", typed.decode("utf-8", "ignore"))
        return keys if len(keys) <= _PASTE else ""

    @contextlib.contextmanager
    def as_before(self) -> Iterator[None]:
        """For a question that is answered by a line."""
        self._restore()
        self._termios.tcflush(self._terminal, self._termios.TCIFLUSH)
        try:
            yield
        finally:
            self._take()

    def _in_front(self) -> bool:
        try:
            return os.tcgetpgrp(self._terminal) == os.getpgrp()
        except OSError:
            return True  # not the terminal of this session, which then has no background

    def _take(self) -> None:
        import tty

        with contextlib.suppress(self._termios.error, OSError):
            tty.setcbreak(self._terminal, self._termios.TCSANOW)
            self._single = True

    def _restore(self) -> None:
        if self._single:
            self._single = False
            with contextlib.suppress(self._termios.error, OSError):
                self._termios.tcsetattr(self._terminal, self._termios.TCSANOW, self._before)

    def _stop(self, _signal: int, _frame: FrameType | None) -> None:
        self._restore()
        signal.signal(signal.SIGTSTP, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGTSTP)  # stopped here, until SIGCONT
        signal.signal(signal.SIGTSTP, self._stop)
        self._resume()  # where no shell would wake us, nothing has stopped us either

    def _resume(self) -> None:
        self._single = False  # whatever the shell made of the terminal meanwhile
        self._again()


def _leave(number: int, _frame: FrameType | None) -> None:
    raise SystemExit(128 + number)
