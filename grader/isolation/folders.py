"""What of this machine's files a submission may read, and what the judge needs besides."""

from __future__ import annotations

import importlib.util
import os
import sys
import sysconfig
from collections.abc import Iterable, Iterator
from os.path import realpath
from pathlib import Path

from grader.isolation.child.imports import OURS

LIBRARIES = ("torch", "numpy", "triton", "typing_extensions", "sympy", "jinja2", "pydantic")
SYSTEM = (
    "/usr/lib",
    "/usr/lib64",
    "/usr/local/lib",
    "/lib",
    "/lib64",
    "/etc/alternatives",
    "/etc/ld.so.cache",
    "/etc/localtime",
    "/usr/share/zoneinfo",
    "/sys/devices/system/cpu",
    "/sys/devices/system/node",
)
"""Libraries, and what they look up; without the processors' own torch refuses half precision."""
MACOS_SYSTEM = (
    "/usr/lib",
    "/usr/share",
    "/System/Library",
    "/System/Cryptexes",
    "/System/Volumes/Preboot/Cryptexes",
    "/private/var/db/dyld",
    "/private/var/db/timezone",
    "/private/etc/localtime",
    *(
        f"{top}/{name}"
        for top in ("/opt/homebrew", "/usr/local")
        for name in ("Cellar", "lib", "opt")
    ),
)
"""Libraries of the system and of Homebrew, the loader's caches, the time zone."""
OF_PYTHON = ("lib", "Python", "Resources")  # what Python's own libraries are called on macOS
AT_START = ("child", "spawn.py", "zygote.py")  # of ours: what a spawned submission begins with
PROCESS = ("/proc/self", "/proc/cpuinfo", "/proc/meminfo", "/proc/stat", "/proc/sys/vm")
DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom")


def libraries() -> list[str]:
    """Where torch and what the judge needs are installed."""
    folders: dict[str, None] = {}
    for name in LIBRARIES:
        spec = importlib.util.find_spec(name)
        if spec is not None and spec.origin is not None:
            path = Path(spec.origin)
            folder = path.parent.parent if path.name.startswith("__init__.") else path.parent
            folders[str(folder)] = None
    return list(folders)


def packages() -> list[str]:
    """The folders of our own packages, wherever they are installed."""
    root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    return [os.path.join(root, name) for name in OURS]


def standard_library() -> list[str]:
    """Python's own modules."""
    return list({sysconfig.get_path(name): None for name in ("stdlib", "platstdlib")})


def readable() -> list[str]:
    """What a submission may read: Python, torch, system libraries; never what is ours.

    A folder that holds something of ours stands there by its other entries.
    """
    return [*opened([*standard_library(), *libraries(), *SYSTEM]), *PROCESS]


def readable_on_macos() -> list[str]:
    """The same on macOS, where a submission's process also finds its own beginning there."""
    of_python = [os.path.join(sys.base_prefix, name) for name in OF_PYTHON]
    here = os.path.dirname(realpath(__file__))
    ours = [os.path.join(here, name) for name in AT_START]
    ours.append(realpath(os.path.join(sys.prefix, "pyvenv.cfg")))
    return [*opened([*standard_library(), *libraries(), *of_python, *MACOS_SYSTEM]), *ours]


def programs() -> list[str]:
    """The files that are this Python. macOS's framework builds replace themselves by another."""
    app = os.path.join(sys.base_prefix, "Resources", "Python.app", "Contents", "MacOS", "Python")
    return [realpath(sys.executable), *([realpath(app)] if os.path.exists(app) else [])]


def opened(folders: Iterable[str]) -> list[str]:
    """What of `folders` a submission may see: all but what is ours."""
    closed = [realpath(folder) for folder in packages()]
    found: dict[str, None] = {}
    for folder in folders:
        found |= dict.fromkeys(without(realpath(folder), closed))
    return nested_once(found)


def without(folder: str, closed: Iterable[str]) -> Iterator[str]:
    """`folder`, or what covers it but for the paths `closed` (both real paths)."""
    inside = [
        path for path in closed if path == folder or path.startswith(os.path.join(folder, ""))
    ]
    if not inside:
        yield folder
    elif folder not in inside:
        for entry in os.scandir(folder):
            if not entry.is_symlink():
                yield from without(entry.path, inside)


def nested_once(folders: Iterable[str]) -> list[str]:
    """Without those that lie in others."""
    kept: list[str] = []
    for folder in sorted(folders):
        if not kept or not folder.startswith(os.path.join(kept[-1], "")):
            kept.append(folder)
    return kept


def mounted(extra: Iterable[str]) -> list[str]:
    """What the judge, and Python itself, must find in a sandbox: as they are named, not resolved.

    `extra`: more folders of judging code.
    """
    named = [sys.prefix, sys.base_prefix, os.path.dirname(sys.executable)]
    named += [realpath(sys.executable), *standard_library(), *libraries(), *packages(), *extra]
    named += [realpath(path) for path in (*named, *SYSTEM)]
    wanted = [*named, *SYSTEM, "/usr", "/bin"]
    return nested_once(dict.fromkeys(path for path in wanted if os.path.exists(path)))
