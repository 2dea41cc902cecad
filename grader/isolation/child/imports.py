"""The import guard: what a submission may not import, and code that is changed on import."""

from __future__ import annotations

import errno
import importlib.abc
import importlib.machinery
import os
import sys
from collections.abc import Callable, Sequence
from os.path import realpath
from types import ModuleType
from typing import Any

OURS = frozenset({"reference", "grader", "drills", "questions"})
LIBRARY_FOLDERS = ("site-packages", "dist-packages", f"{os.sep}torch{os.sep}")

Patch = Callable[[ModuleType], None]


class ImportGuard(importlib.abc.MetaPathFinder):
    """First on sys.meta_path. `refuse` is told of a ruled-out module and raises."""

    def __init__(self) -> None:
        self.ruled_out: frozenset[str] = frozenset()
        self.patches: dict[str, Patch] = {}
        self.refuse: Callable[[str], object] = lambda name: None

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        """None, as a finder that has nothing to say, unless the module is guarded or patched."""
        if fullname.partition(".")[0] in OURS:
            raise _refused(fullname)
        if fullname in self.ruled_out and not _asked_by_a_library():
            self.refuse(f"import {fullname}")
        if fullname in self.patches:
            spec = importlib.machinery.PathFinder.find_spec(fullname, path, target)
            if spec is not None and spec.loader is not None:
                spec.loader = _Patched(spec.loader, self.patches[fullname])
            return spec
        return None


def _refused(name: str) -> ImportError:
    return ImportError(
        f"`{name}` cannot be imported here: a submission stands on its own, "
        "with torch, numpy and the standard library"
    )


def close_our_files() -> None:
    """For the life of this process, have Python refuse to import or open what is ours.

    An audit hook cannot be taken off by Python code, unlike a finder on sys.meta_path. It is a
    trip-wire: C code opens files without asking it, and so does another program.
    """
    root = realpath(os.path.join(os.path.dirname(__file__), *(os.pardir,) * 3))
    rooms = (*sorted(OURS), os.path.join("tests", "honest"))
    closed = tuple(os.path.join(root, room, "") for room in rooms)

    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        if event == "open":
            path = arguments[0]
            if isinstance(path, bytes):
                path = os.fsdecode(path)
            if isinstance(path, str) and realpath(path).startswith(closed):
                raise PermissionError(errno.EACCES, "drill's own files are closed here", path)
        elif event == "import" and arguments[0].partition(".")[0] in OURS:
            raise _refused(arguments[0])

    sys.addaudithook(hook)


class _Patched(importlib.abc.Loader):
    """A loader that hands the fresh module to `patch` once it is executed."""

    def __init__(self, loader: importlib.abc.Loader, patch: Patch) -> None:
        self.loader = loader
        self.patch = patch

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType | None:
        """As the wrapped loader does."""
        return self.loader.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        """Execute, then patch."""
        self.loader.exec_module(module)
        self.patch(module)


def _asked_by_a_library() -> bool:
    """Whether an installed library, rather than the submission, wrote the import."""
    frame = sys._getframe(1)
    while frame is not None:
        name = frame.f_code.co_filename
        if name != __file__ and "importlib" not in name:
            return any(folder in name for folder in LIBRARY_FOLDERS)
        if frame.f_back is None:
            break
        frame = frame.f_back
    return False
