"""Removes a submission's folder, whatever was made of it: deep, locked, or full of files.

Stdlib only: the zygote loads this file by its path.
"""

from __future__ import annotations

import contextlib
import math
import os
import stat
import time

FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


def remove(path: str, seconds: float = math.inf) -> bool:
    """Remove a tree without following links. False: something is left when the time is up."""
    with contextlib.suppress(OSError):
        if stat.S_ISDIR(os.lstat(path).st_mode):
            top = _open(path, None)
            try:
                _empty(top, time.monotonic() + seconds)
            finally:
                os.close(top)
            os.rmdir(path)
        else:
            os.unlink(path)
    return _is_gone(path)


def _is_gone(path: str) -> bool:
    try:
        os.lstat(path)
    except (FileNotFoundError, NotADirectoryError):
        return True
    except OSError:  # it may be there, behind a folder that is shut for now
        pass
    return False


def _open(name: str, parent: int | None) -> int:
    try:
        return os.open(name, FOLDER, dir_fd=parent)
    except PermissionError:  # its owner may shut it, and open it again
        os.chmod(name, 0o700, dir_fd=parent)
        return os.open(name, FOLDER, dir_fd=parent)


def _empty(top: int, deadline: float) -> None:
    """Without recursion: folders are lifted to the top, one level at a time."""
    os.fchmod(top, 0o700)
    removed = -1
    while removed:
        removed = 0
        for name, is_folder in _entries(top):
            if time.monotonic() > deadline:
                return
            with contextlib.suppress(OSError):
                if is_folder:
                    _lift(top, name, deadline)
                    os.rmdir(name, dir_fd=top)
                else:
                    os.unlink(name, dir_fd=top)
                removed += 1


def _lift(top: int, name: str, deadline: float) -> None:
    """Empty the folder `name`: its files go, its folders move up beside it."""
    folder = _open(name, top)
    try:
        os.fchmod(folder, 0o700)
        for inner, is_folder in _entries(folder):
            if time.monotonic() > deadline:
                return
            if not is_folder:
                os.unlink(inner, dir_fd=folder)
                continue
            with contextlib.suppress(OSError):  # a folder only moves if it may be written
                os.chmod(inner, 0o700, dir_fd=folder)
            os.rename(inner, os.urandom(8).hex(), src_dir_fd=folder, dst_dir_fd=top)
    finally:
        os.close(folder)


def _entries(folder: int) -> list[tuple[str, bool]]:
    with os.scandir(folder) as entries:
        return [(entry.name, entry.is_dir(follow_symlinks=False)) for entry in entries]
