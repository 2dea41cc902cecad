"""What threads and signal handlers have to say to the one loop that prints."""

from __future__ import annotations

import contextlib
import os
import select
from collections import deque
from typing import Generic, TypeVar

T = TypeVar("T")


class Mailbox(Generic[T]):
    """`put` from anywhere, a signal handler too; `get` from the loop. Use as a context manager."""

    def __init__(self) -> None:
        self._messages: deque[T] = deque()
        self._read, self._write = os.pipe()
        os.set_blocking(self._read, False)
        os.set_blocking(self._write, False)

    def __enter__(self) -> Mailbox[T]:
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._read)
        self._write, write = -1, self._write
        os.close(write)

    def put(self, message: T) -> None:
        self._messages.append(message)
        with contextlib.suppress(OSError):  # full: the loop wakes anyway; closed: nobody listens
            os.write(self._write, b".")

    def get(self, also: int | None = None, timeout: float | None = None) -> T | None:
        """The next message; None once `also`, a descriptor, has something to read, or after
        `timeout` seconds."""
        watched = [self._read] if also is None else [self._read, also]
        while True:
            ready, _, _ = select.select(watched, [], [], 0 if self._messages else timeout)
            if also in ready:
                return None  # the person first
            with contextlib.suppress(BlockingIOError):
                os.read(self._read, 4096)  # one mark a message; those of earlier ones may be left
            if self._messages:
                return self._messages.popleft()
            if not ready:
                return None
