"""What a submission built while it was first loaded, for its other processes: bytes, no more."""

from __future__ import annotations

import os
import re
import stat

from grader.isolation.child.builds import FOLDER

MOST_BYTES = 64 << 20
MOST_FILES = 16
NAME = re.compile(r"[0-9a-f]{64}")


class Built:
    """Shared by the workers of one submission. `files` are those to be given to a new one."""

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {}
        self._taken = False

    def take(self, scratch: str) -> None:
        """Read what lies aside in a process that has just been loaded, the first time alone: what
        another lays there later may be learnt from its calls."""
        if not self._taken:
            self._taken = True
            self.files = _read(os.path.join(scratch, FOLDER))


def _read(folder: str) -> dict[str, bytes]:
    """The regular files there, no link followed; none of them where they are too many."""
    found: dict[str, bytes] = {}
    try:
        top = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        return {}
    try:
        names = [entry.name for entry in os.scandir(top)]
        left = MOST_BYTES
        for name in names if len(names) <= MOST_FILES else ():
            flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
            with os.fdopen(os.open(name, flags, dir_fd=top), "rb") as file:
                if not NAME.fullmatch(name) or not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                    return {}
                found[name] = file.read(left + 1)
            left -= len(found[name])
            if left < 0:
                return {}
    except OSError:  # it is being changed meanwhile
        return {}
    finally:
        os.close(top)
    return found
