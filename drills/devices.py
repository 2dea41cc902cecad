"""Where a submission is graded: the CPU, Triton's interpreter, a GPU, or nowhere here."""

from __future__ import annotations

import ast
import importlib.metadata
import importlib.util
import re
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from drills.app import Question

if TYPE_CHECKING:
    from grader.report import Device

NAMES = ("cpu", "interpret", "cuda")
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
        lacking, remedy = without_cuda()
        return Choice(device, lacking, remedy or elsewhere)
    return Choice(device)


def without_cuda() -> tuple[str, str]:
    """What CUDA lacks here, and the remedy where there is one; "" twice where nothing is seen to
    be missing. Whether the device starts shows when something is graded on it."""
    from grader.isolation import accelerator

    if not accelerator.devices():
        return "this machine shows no NVIDIA device (no /dev/nvidia0)", ""
    if not torch_knows_cuda():
        return (
            "a device is here, but the torch that is installed is built without CUDA",
            "install a build of torch for CUDA (pytorch.org), then drill doctor",
        )
    return "", ""


def torch_knows_cuda() -> bool:
    """Whether torch is built for CUDA, as its own note says, without importing it."""
    spec = importlib.util.find_spec("torch")
    if spec is None or spec.origin is None:
        return False
    try:
        note = Path(spec.origin).with_name("version.py").read_text(encoding="utf-8")
    except OSError:
        return False
    return re.search(r"^cuda\b[^=\n]*= *['\"]", note, re.MULTILINE) is not None


def has_triton() -> bool:
    """Whether Triton can be imported, without importing it."""
    return importlib.util.find_spec("triton") is not None


def here() -> dict[str, str]:
    """What can be graded on each device of this machine."""
    interpreter = f"needs Triton, for kernels written in it: {INSTALL_TRITON}"
    if has_triton():
        release = importlib.metadata.version("triton")
        interpreter = f"Triton {release} runs kernels on the CPU, for values and shapes alone"
    from grader.report import UNTRIED

    lacking, remedy = without_cuda()
    cuda = f"values, kernels launched, memory, speed; {UNTRIED}"
    if lacking:
        cuda = f"{lacking}; {remedy}" if remedy else lacking
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
