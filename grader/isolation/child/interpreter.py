"""Triton's interpreter: kernels run in NumPy on the CPU, one program after the other.

Imported by the zygote on request, so that no submission pays for it. What Triton needs to know it
reads from the environment, at its import.
"""

from __future__ import annotations

import contextlib
import importlib
import os
from functools import wraps
from typing import Any

launches = 0
"""Kernels launched in this process so far."""

_prepared = False


def prepare() -> None:
    """Import Triton, set to interpret. Where it is not installed, a submission will say so."""
    global _prepared
    if _prepared:
        return
    _prepared = True
    os.environ["TRITON_INTERPRET"] = "1"
    with contextlib.suppress(ImportError):
        for name in ("triton", "triton.language"):
            importlib.import_module(name)
        executor = importlib.import_module("triton.runtime.interpreter").GridExecutor
        executor.__call__ = _counted(executor.__call__)


def _counted(launch: Any) -> Any:
    @wraps(launch)
    def counted(*arguments: Any, **keywords: Any) -> Any:
        global launches
        launches += 1
        return launch(*arguments, **keywords)

    return counted
