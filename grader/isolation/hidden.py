"""Keeps others out of the session's own process."""

from __future__ import annotations

import ctypes
import sys


class Hidden:
    """While graders run, nobody reads this process by way of /proc or ptrace. Linux alone."""

    def __init__(self) -> None:
        self.graders = 0
        self.before = 1

    def begin(self) -> None:
        """One grader more."""
        if not self.graders:
            self.before = self._set_dumpable(0)
        self.graders += 1

    def end(self) -> None:
        """One grader less."""
        self.graders -= 1
        if not self.graders:
            self._set_dumpable(self.before)

    def _set_dumpable(self, value: int) -> int:
        if sys.platform != "linux":
            return 1
        libc = ctypes.CDLL(None)
        before = int(libc.prctl(3, 0, 0, 0, 0))
        libc.prctl(4, value, 0, 0, 0)
        return before


hidden = Hidden()
