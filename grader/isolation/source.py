"""Reads a submission's file, once, as bytes: nothing of it is parsed here."""

from __future__ import annotations

import os
import re
import stat
from typing import Literal

LARGEST = 256 << 10
REORDERING = re.compile(rb"\xe2(?:\x80[\xaa-\xae]|\x81[\xa6-\xa9])")
"""In UTF-8: the marks by which a line of code is shown in another order than it runs."""

Kind = Literal["usage", "invalid"]


class SourceError(Exception):
    """One sentence for the learner.

    `kind` is "usage" where there is no file to grade (missing, a folder, a device, unreadable:
    exit code 2), "invalid" where there is one that cannot be a submission (too large, binary,
    empty).
    """

    def __init__(self, message: str, kind: Kind) -> None:
        super().__init__(message)
        self.kind = kind


def read_source(path: str | os.PathLike[str]) -> bytes:
    """The bytes of a regular file of at most 256 KiB. Raises SourceError.

    The last component may not be a symbolic link: what is graded is the file that was named.
    """
    shown = os.fspath(path)
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    try:
        descriptor = os.open(path, flags | getattr(os, "O_CLOEXEC", 0))
    except FileNotFoundError:
        raise SourceError(f"There is no file {shown}.", "usage") from None
    except (OSError, ValueError) as error:
        if isinstance(error, OSError) and os.path.islink(path):
            target = os.path.realpath(path)
            message = f"{shown} is a symbolic link; name the file itself, {target}."
            raise SourceError(message, "usage") from None
        reason = (error.strerror if isinstance(error, OSError) else None) or str(error)
        raise SourceError(f"{shown} cannot be read: {reason}.", "usage") from None
    try:
        mode = os.fstat(descriptor).st_mode
        if stat.S_ISDIR(mode):
            raise SourceError(f"{shown} is a folder; name the Python file in it.", "usage")
        if not stat.S_ISREG(mode):
            raise SourceError(f"{shown} is not a regular file.", "usage")
        with os.fdopen(descriptor, "rb", closefd=False) as file:
            data = file.read(LARGEST + 1)
    except OSError as error:
        raise SourceError(f"{shown} cannot be read: {error.strerror}.", "usage") from None
    finally:
        os.close(descriptor)
    return checked(data, shown)


def checked(data: bytes, shown: str) -> bytes:
    """`data`, where it can be a submission at all. Raises SourceError of kind "invalid"."""
    if len(data) > LARGEST:
        size = LARGEST >> 10
        raise SourceError(f"{shown} is larger than {size} KiB: not one solution.", "invalid")
    if not data.strip():
        raise SourceError(f"{shown} is empty; write the function and save it.", "invalid")
    if b"\0" in data:
        message = f"{shown} is a binary file (it holds NUL bytes), not Python source."
        raise SourceError(message, "invalid")
    return data


def reordered(data: bytes) -> str:
    """A sentence about lines that do not show the code that runs; "" where there are none."""
    lines = [str(n) for n, line in enumerate(data.split(b"\n"), 1) if REORDERING.search(line)]
    if not lines:
        return ""
    places = f"Line {lines[0]} holds" if len(lines) == 1 else f"Lines {', '.join(lines[:5])} hold"
    return f"{places} invisible marks that show code in another order than it runs in."
