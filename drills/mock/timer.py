"""The interview's clock: it stands still while the interview is paused, left or cut off."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

WARNINGS = (300.0, 60.0)  # seconds before the end
_STEP = 2.0  # seconds of the clock that a kill may forget


class Timer:
    """Counts from `used` seconds on, once it `go`es.

    `kept` is a small file that holds the seconds while the clock runs, so that time spent on an
    answer counts even where the terminal was closed before anything was recorded.
    """

    def __init__(
        self,
        total: float,
        used: float = 0.0,
        kept: Path | None = None,
        tell: Callable[[], float] = time.monotonic,
    ) -> None:
        self.total = total
        self._used = used
        self._kept = kept
        self._tell = tell
        self._since: float | None = None
        self._written = used
        self._warned = {w for w in WARNINGS if w > total / 2 or total - used <= w}

    @property
    def running(self) -> bool:
        return self._since is not None

    @property
    def used(self) -> float:
        return self._used + (0.0 if self._since is None else self._tell() - self._since)

    @property
    def left(self) -> float:
        return self.total - self.used

    def go(self) -> None:
        if self._since is None:
            self._since = self._tell()

    def stop(self) -> None:
        self._used, self._since = self.used, None
        self._keep()

    def tick(self) -> str:
        """Keep the time, and return a warning where one has come due, else ""."""
        if self.running and self.used - self._written >= _STEP:
            self._keep()
        due = [w for w in WARNINGS if w not in self._warned and self.left <= w]
        if not due:
            return ""
        self._warned |= set(due)
        minutes = round(min(due) / 60)
        return f"{minutes} minute{'' if minutes == 1 else 's'} left."

    def _keep(self) -> None:
        self._written = self.used
        if self._kept is None:
            return
        with suppress(OSError):  # a convenience: the events hold the time too
            self._kept.parent.mkdir(parents=True, exist_ok=True)
            temporary = self._kept.with_suffix(".new")
            temporary.write_text(f"{self.used:.1f}")
            temporary.replace(self._kept)


def kept(path: Path, at_least: float, at_most: float) -> float:
    """The seconds that `path` holds, where they can be believed; else `at_least`."""
    try:
        seconds = float(path.read_text())
    except (OSError, ValueError):
        return at_least
    return seconds if at_least <= seconds <= at_most else at_least


def shown(seconds: float) -> str:
    """Minutes and seconds, as on a clock: 12:05."""
    whole = max(0, round(seconds))
    return f"{whole // 60}:{whole % 60:02d}"
