"""Extensions in C++ and CUDA C++, which torch's loader builds for a minute: once a submission.

What is built while a file is loaded for the first time is laid aside in `FOLDER`, where the judge
takes it before any call (`grader.isolation.built`), and gives it to the submission's other
processes when they load. There the loader finds a library of the same sources and options. What a
call builds stays in its process.
"""

from __future__ import annotations

import contextlib
import hashlib
import inspect
import os
import shutil
import sys
from collections.abc import Mapping
from functools import partial, wraps
from types import ModuleType
from typing import Any

from .imports import ImportGuard

FOLDER = "built"  # in the scratch folder
LOADER = "torch.utils.cpp_extension"
BUILDS = "_write_ninja_file_and_build_library"  # private: where a torch lacks it, each builds anew
HEADERS = (".h", ".hpp", ".cuh", ".inl")
APART = ("sources", "build_directory", "verbose")  # arguments of BUILDS that are no option
VARIABLES = ("TORCH_CUDA_ARCH_LIST", "CFLAGS", "CXXFLAGS", "NVCC_APPEND_FLAGS")


def install(guard: ImportGuard, scratch: str) -> None:
    """Have torch's extension loader lay aside what it builds, and take what lies there."""
    os.mkdir(os.path.join(scratch, FOLDER))
    if LOADER in sys.modules:
        _patch(scratch, sys.modules[LOADER])
    else:
        guard.patches[LOADER] = partial(_patch, scratch)


def put(scratch: str, name: str, data: bytes) -> None:
    """A library that another process of this submission laid aside."""
    with open(os.path.join(scratch, FOLDER, name), "wb") as file:
        file.write(data)


def _patch(scratch: str, loader: ModuleType) -> None:
    build = getattr(loader, BUILDS, None)
    if build is None:
        return

    @wraps(build)
    def once(*arguments: Any, **keywords: Any) -> None:
        try:
            asked = inspect.signature(build).bind(*arguments, **keywords).arguments
            kept = os.path.join(scratch, FOLDER, _key(asked, scratch))
            library = os.path.join(asked["build_directory"], asked["name"] + loader.LIB_EXT)
        except (TypeError, KeyError, AttributeError, OSError):
            build(*arguments, **keywords)
            return
        if os.path.exists(kept):
            shutil.copyfile(kept, library)
            return
        build(*arguments, **keywords)
        with contextlib.suppress(OSError):  # a program that stands alone is no library
            shutil.copyfile(library, kept)

    setattr(loader, BUILDS, once)


def _key(asked: Mapping[str, Any], scratch: str) -> str:
    """The sources, the headers beside them, and every option, wherever the scratch folder is."""
    whole = hashlib.sha256()
    folders = sorted({os.path.dirname(os.path.abspath(source)) for source in asked["sources"]})
    headers = [
        os.path.join(folder, name)
        for folder in folders
        for name in sorted(os.listdir(folder))
        if name.endswith(HEADERS)
    ]
    for path in (*asked["sources"], *headers):
        with open(path, "rb") as file:
            data = file.read()
        whole.update(b"%d %b" % (len(data), data))
    options = sorted((name, value) for name, value in asked.items() if name not in APART)
    variables = [os.environ.get(name) for name in VARIABLES]
    whole.update(repr((options, variables)).replace(scratch, "").encode())
    return whole.hexdigest()
