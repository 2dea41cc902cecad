"""How much a submission keeps in its folder, looked at while it runs."""

from __future__ import annotations

import contextlib
import os

MOST_FILES = 2048
BLOCK = 512
LONGEST_PATH = 3800  # the system takes 4096


def is_over(folder: str, most_bytes: int) -> bool:
    """Whether the files below `folder` take more than that, or are more than anyone needs.

    The tree may change meanwhile. But folders that are shut to us, or so deep that no path leads
    there, are more than anyone needs.
    """
    waiting, files, used = [folder], 0, 0
    while waiting:
        path = waiting.pop()
        if len(path) > LONGEST_PATH:
            return True
        try:
            with os.scandir(path) as entries:
                for entry in entries:
                    files += 1
                    if files > MOST_FILES:
                        return True
                    with contextlib.suppress(OSError):
                        used += entry.stat(follow_symlinks=False).st_blocks * BLOCK
                        if entry.is_dir(follow_symlinks=False):
                            waiting.append(entry.path)
        except PermissionError:
            return True
        except OSError:
            continue
    return used > most_bytes
