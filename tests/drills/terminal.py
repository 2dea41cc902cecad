"""A command on a real (pseudo-)terminal."""

from __future__ import annotations

import os
import pty
import select
import subprocess
import sys
import time

from conftest import Drill


class Terminal:
    """A command on a terminal of 80 columns: `until` reads, `type` answers."""

    def __init__(self, drill: Drill, *arguments: str, **env: str) -> None:
        self.master, slave = pty.openpty()
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
            ready, _, _ = select.select([self.master], [], [], 0.2)
            if ready:
                try:
                    self.seen += os.read(self.master, 65536).decode("utf-8", "replace")
                except OSError:  # the other end was closed
                    break
            assert time.monotonic() < deadline, self.seen
        assert words in self.seen[start:], self.seen
        self.at = self.seen.index(words, start) + len(words)
        return self.seen[start : self.at]

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
