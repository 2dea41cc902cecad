"""Where a submission is graded: the CPU, Triton's interpreter, or nowhere on this machine."""

from __future__ import annotations

import ast
import importlib.metadata
import importlib.util
import os
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING

from drills.app import Question

if TYPE_CHECKING:
    from grader.report import Device

NAMES = ("cpu", "interpret", "cuda")
NVIDIA = "/dev/nvidia0"
INSTALL_TRITON = "pip install 'attention-drill[triton]'"


@dataclass(frozen=True)
class Choice:
    """The device to grade on; or `lacking`, why it cannot be done here, and the `remedy`."""

    device: Device
    lacking: str = ""
    remedy: str = ""


def choose(question: Question, source: bytes, asked: Device | None) -> Choice:
    """As `asked`; else Triton's interpreter for a kernel that imports Triton, else the CPU."""
    elsewhere = f"drill grade {question['id']} --device cpu"
    if question["kind"] != "kernel":
        if asked in (None, "cpu"):
            return Choice("cpu")
        return Choice(asked, f"this drill grades on the CPU only, not on {asked}", elsewhere)
    device = asked or ("interpret" if imports_triton(source) else "cpu")
    if device == "interpret" and not has_triton():
        return Choice(device, "Triton is not installed here", INSTALL_TRITON)
    if device == "cuda":
        lacking = "kernels are graded on the CPU and in Triton's interpreter so far, not on CUDA"
        return Choice(device, lacking, elsewhere)
    return Choice(device)


def has_triton() -> bool:
    """Whether Triton can be imported, without importing it."""
    return importlib.util.find_spec("triton") is not None


def here() -> dict[str, str]:
    """What can be graded on each device of this machine."""
    interpreter = f"needs Triton, for kernels written in it: {INSTALL_TRITON}"
    if has_triton():
        release = importlib.metadata.version("triton")
        interpreter = f"Triton {release} runs kernels on the CPU, for values and shapes alone"
    cuda = "no device of NVIDIA's is here"
    if os.path.exists(NVIDIA):
        cuda = "a device is here, and no kernel is graded on it yet"
    return {
        "cpu": "all code, and kernels in plain torch: values, memory, growth, speed",
        "interpret": interpreter,
        "cuda": cuda,
    }


def imports_triton(source: bytes) -> bool:
    """Whether the file imports Triton anywhere; False where it is no Python."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    names: list[str] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and not node.level:
            names.append(node.module or "")
    return any(name.partition(".")[0] == "triton" for name in names)
