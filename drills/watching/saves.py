"""Tells when a file was saved, came or went, whatever an editor or the file system does to it.

The folder is watched, not the file: an atomic save puts another file in its place, and a watch on
the file would follow the old one. Events only wake; what counts is how the file looks, and that
is looked at once a second in any case. So no save is lost where events do not come: on network
file systems, past the system's limit of watches, after the folder itself was replaced.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

LOOK = 1.0  # seconds between two looks without an event
SETTLED = 0.05  # seconds without a change after which a save is over
_LONGEST_SAVE = 2.0

Stamp = tuple[int, ...]


class Saves(threading.Thread):
    """Calls `tell(self)` after each change of `path`; from its own thread, once started."""

    def __init__(self, path: Path, tell: Callable[[Saves], None]) -> None:
        super().__init__(daemon=True)
        self.path = path
        self._tell = tell
        self._over = threading.Event()
        self._seen = stamp(path)

    def stop(self) -> None:
        self._over.set()

    def run(self) -> None:
        while not self._over.is_set():
            for _ in self._wakes():
                if self._over.is_set():
                    return
                if stamp(self.path) != self._seen:
                    self._seen = self._settle()
                    self._tell(self)

    def _settle(self) -> Stamp | None:
        """How the file looks once it keeps still: a burst of saves is one."""
        before = stamp(self.path)
        for _ in range(int(_LONGEST_SAVE / SETTLED)):
            if self._over.wait(SETTLED):
                break
            before, now = stamp(self.path), before
            if before == now:
                break
        return before

    def _wakes(self) -> Iterator[None]:
        """One a look; ends when the folder has to be watched anew."""
        from watchfiles import watch

        folder = self.path.parent
        identity = _identity(folder)
        if identity is None:
            self._over.wait(LOOK)
            yield
            return
        try:
            for _ in watch(
                folder,
                watch_filter=None,
                debounce=200,
                step=20,
                stop_event=self._over,
                rust_timeout=int(LOOK * 1000),
                yield_on_timeout=True,
                raise_interrupt=False,
                recursive=False,
                ignore_permission_denied=True,
            ):
                yield
                if _identity(folder) != identity:
                    return
        except Exception:  # no watches are left, or the folder went at that moment: look instead
            self._over.wait(LOOK)
            yield


def stamp(path: Path) -> Stamp | None:
    """What changes with every save; None where nothing can be read there."""
    try:
        found = os.stat(path)
    except (OSError, ValueError):
        return None
    return (found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns)


def _identity(folder: Path) -> Stamp | None:
    try:
        found = os.stat(folder)
    except OSError:
        return None
    return (found.st_dev, found.st_ino)
