"""Inputs on which the known mistakes of each family show, and the helpers that compare them.

Each module `cases_<name>.py` beside this one has, by drill: DRILLS, the reference and its family;
BASELINES, the module and the ways; CASES, a function of a dtype that draws the arguments; LOOSE,
where a float32 part inside sets how near a baseline comes in float64; GRADED, the drills whose
gradients are graded.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from drawing import Args
from torch import Tensor

_MODULES = [
    importlib.import_module(file.stem) for file in sorted(Path(__file__).parent.glob("cases_*.py"))
]
DRILLS: dict[str, tuple[str, str]] = {k: v for m in _MODULES for k, v in m.DRILLS.items()}
BASELINES: dict[str, tuple[str, ...]] = {k: v for m in _MODULES for k, v in m.BASELINES.items()}
CASES: dict[str, Callable[[torch.dtype], list[Args]]] = {
    k: v for m in _MODULES for k, v in m.CASES.items()
}
LOOSE: dict[str, float] = {k: v for m in _MODULES for k, v in m.LOOSE.items()}
GRADED: list[str] = [drill for m in _MODULES for drill in m.GRADED]


def dotted(name: str) -> Callable[..., Any]:
    module, _, function = name.rpartition(".")
    found: Callable[..., Any] = getattr(importlib.import_module(module), function)
    return found


def reference_of(drill: str) -> Callable[..., Any]:
    return dotted(f"reference.{DRILLS[drill][0]}")


def family_of(drill: str) -> Callable[..., Any]:
    return dotted(f"reference.mistakes.{DRILLS[drill][1]}")


def mistakes_of(drill: str) -> dict[str, dict[str, object]]:
    module, _, function = DRILLS[drill][1].rpartition(".")
    listed = importlib.import_module(f"reference.mistakes.{module}").MISTAKES[function]
    return dict(listed)


def baselines_of(drill: str) -> list[Callable[..., Any]]:
    module, *ways = BASELINES[drill]
    stem = drill.replace("-", "_")
    return [dotted(f"reference.baselines.{module}.{stem}_{how}") for how in ways]


def cases_of(drill: str, dtype: torch.dtype) -> list[Args]:
    """Fresh arguments, the same at each call."""
    return CASES[drill](dtype)


def outputs(result: Any) -> list[Tensor]:
    """A result as float64 tensors."""
    parts = result if isinstance(result, tuple) else (result,)
    return [torch.as_tensor(part).to(torch.float64) for part in parts]


def differ(one: list[Tensor], other: list[Tensor], by: float) -> bool:
    """Whether two results differ by more than `by` times their size, or in what is not finite."""
    for a, b in zip(one, other, strict=True):
        if a.shape != b.shape:
            return True
        finite = a.isfinite() & b.isfinite()
        same = (a.isnan() & b.isnan()) | (a == b)
        if (~finite & ~same).any():
            return True
        size = 1.0 + float(b[finite].abs().max()) if finite.any() else 1.0
        if finite.any() and float((a - b)[finite].abs().max()) > by * size:
            return True
    return False
