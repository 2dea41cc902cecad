"""A command on a real (pseudo-)terminal."""

from __future__ import annotations

import fcntl
import os
import pty
import select
import struct
import subprocess
import sys
import termios
import time

import pyte
from conftest import Drill

COLUMNS, ROWS = 80, 50


class Terminal:
    """A command on a terminal of 80 columns: `until` reads, `type` answers. `screen` is what a
    person sees."""

    def __init__(self, drill: Drill, *arguments: str, **env: str) -> None:
        self.master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
        self._screen = pyte.Screen(COLUMNS, ROWS)
        self._stream = pyte.ByteStream(self._screen)
        self.process = subprocess.Popen(
            [sys.executable, "-m", "drills", *arguments],
            stdin=slave,
            stdout=slave,
            stderr=slave,
            cwd=drill.work,
            env={**drill.env, "COLUMNS": "80", **env},
            start_new_session=True,
        )
        os.close(slave)
        self.seen = ""
        self.at = 0  # what lies before it was looked at

    def until(self, words: str, seconds: float = 30) -> str:
        """What is printed up to `words`, from where the last call ended; fails where they do not
        come."""
        start, deadline = self.at, time.monotonic() + seconds
        while words not in self.seen[start:]:
            if not self._read():
                break
            assert time.monotonic() < deadline, self.seen
        assert words in self.seen[start:], self.seen
        self.at = self.seen.index(words, start) + len(words)
        return self.seen[start : self.at]

    def _read(self) -> bool:
        """Take in what comes within a moment; False where the other end was closed."""
        ready, _, _ = select.select([self.master], [], [], 0.2)
        if ready:
            try:
                data = os.read(self.master, 65536)
            except OSError:
                return False
            self._stream.feed(data)
            self.seen += data.decode("utf-8", "replace")
        return True

    @property
    def screen(self) -> str:
        return "\n".join(line.rstrip() for line in self._screen.display)

    def shows(self, words: str, seconds: float = 30) -> str:
        """The screen as soon as it shows `words`; fails where it does not come to that."""
        deadline = time.monotonic() + seconds
        while words not in self.screen:
            assert self._read(), self.screen
            assert time.monotonic() < deadline, self.screen
        self.at = len(self.seen)
        return self.screen

    def type(self, text: str, end: str = "\n") -> None:
        os.write(self.master, text.encode() + end.encode())

    def ends(self) -> int:
        """The exit code, once the rest was read."""
        while True:
            try:
                data = os.read(self.master, 65536)
            except OSError:
                break
            if not data:
                break
            self.seen += data.decode("utf-8", "replace")
        os.close(self.master)
        return self.process.wait(20)
