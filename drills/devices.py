"""Where a submission is graded: the CPU, Triton's interpreter, a GPU, or nowhere here."""

from __future__ import annotations

import ast
import importlib.metadata
import importlib.util
import re
import shutil
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from drills.app import Question

if TYPE_CHECKING:
    from grader.report import Device, Report

NAMES = ("cpu", "interpret", "cuda")
INSTALL_TRITON = "pip install 'attention-drill[triton]'"
OWN_DEVICE = {
    "triton": "Kernels in Triton run with --device interpret, or on a GPU with --device cuda.",
    "extension": "Extensions in C++ and CUDA C++ are built for --device cuda only: elsewhere a "
    "submission starts no compiler, whatever is installed.",
}
NO_KERNEL = "an extension without cuda_sources is C++ for the processor, and no kernel for a GPU"
_ON_CUDA = "values, kernels launched, memory, speed"
_ELSEWHERE = "write the kernel in Triton, for --device interpret, or in plain torch"
_ENDED = ("runtime_error", "crashed", "denied", "invalid", "time_limit", "resource_limit")


@dataclass(frozen=True)
class Choice:
    """The device to grade on; or `lacking`, why it cannot be done here, and the `remedy`."""

    device: Device
    lacking: str = ""
    remedy: str = ""


def choose(question: Question, source: bytes, asked: Device | None) -> Choice:
    """As `asked`; else for a kernel what its imports tell: CUDA where it builds an extension,
    Triton's interpreter where it imports Triton, and the CPU."""
    if question["kind"] != "kernel":
        if asked in (None, "cpu"):
            return Choice("cpu")
        elsewhere = f"drill grade {question['id']} --device cpu"
        return Choice(asked, f"this drill grades on the CPU only, not on {asked}", elsewhere)
    written = language(source)
    fits: dict[str, Device] = {"extension": "cuda", "triton": "interpret"}
    device = asked or fits.get(written, "cpu")
    if device == "interpret" and not has_triton():
        return Choice(device, "Triton is not installed here", INSTALL_TRITON)
    if device == "cuda":
        lacking, remedy = without_cuda()
        if written != "extension":
            other = fits.get(written, "cpu")
            remedy = remedy or f"drill grade {question['id']} --device {other}"
        elif lacking:
            lacking = f"the file builds an extension, for --device cuda only, and {lacking}"
            remedy = remedy or f"grade it where there is a GPU, or {_ELSEWHERE}"
            if without_kernel(source):
                lacking, remedy = NO_KERNEL, f"add cuda_sources, or {_ELSEWHERE}"
        else:
            lacking, remedy = without_compilers()
        return Choice(device, lacking, remedy)
    return Choice(device)


def told(report: Report, source: bytes) -> Report:
    """`report`, with what a kernel's own device is where it ended on another one, and with a
    note where it is an extension without a kernel."""
    written = language(source) if report.kind == "kernel" else "torch"
    own = report.device == "cuda" or (written, report.device) == ("triton", "interpret")
    if written in OWN_DEVICE and not own and report.verdict in _ENDED:
        report = replace(report, summary=f"{report.summary}\n\n{OWN_DEVICE[written]}")
    if written == "extension" and without_kernel(source):
        report = replace(report, notes=(*report.notes, f"This is no kernel: {NO_KERNEL}."))
    return report


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


def without_compilers() -> tuple[str, str]:
    """What torch's extension loader lacks here to build CUDA C++, and the remedy; "" twice where
    all of it is here. The programs are looked for where the sandbox finds them."""
    from grader.isolation import accelerator

    found = accelerator.environment()
    lacking = {
        "nvcc": "" if accelerator.toolkit() else "nvcc (CUDA's toolkit)",
        "ninja": "" if shutil.which("ninja", path=found["PATH"]) else "ninja (pip install ninja)",
        "g++": "" if "CXX" in found else "a compiler of C++ (g++)",
    }
    missing = " and ".join(words for words in lacking.values() if words)
    if not missing:
        return "", ""
    return f"building CUDA C++ needs {missing}", "install that, then drill doctor"


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
    if lacking:
        cuda = f"{lacking}; {remedy}" if remedy else lacking
    else:
        cuda = "; ".join(filter(None, (_ON_CUDA, without_compilers()[0], UNTRIED)))
    return {
        "cpu": "all code, and kernels in plain torch: values, memory, growth, speed",
        "interpret": interpreter,
        "cuda": cuda,
    }


def language(source: bytes) -> Literal["torch", "triton", "extension"]:
    """What the file is written in, by its imports: `extension` where it loads torch's builder of
    C++ and CUDA C++, else `triton`, else `torch`, also where it is no Python."""
    names = list(_imports(_tree(source)))
    if any(f"{name}.".startswith("torch.utils.cpp_extension.") for name in names):
        return "extension"
    return "triton" if any(name.partition(".")[0] == "triton" for name in names) else "torch"


def without_kernel(source: bytes) -> bool:
    """Whether all that the file builds is `load_inline` of C++ alone, without CUDA sources."""
    built = []
    for node in ast.walk(_tree(source)):
        if isinstance(node, ast.Call):
            name = node.func.attr if isinstance(node.func, ast.Attribute) else ""
            name = node.func.id if isinstance(node.func, ast.Name) else name
            if name in ("load", "load_inline", "CUDAExtension"):
                kinds = {keyword.arg for keyword in node.keywords}  # None is a ** of others
                alone = not kinds & {"cuda_sources", None} and len(node.args) < 3
                built.append(name == "load_inline" and alone)
    return bool(built) and all(built)


def _tree(source: bytes) -> ast.Module:
    """The file as Python reads it; empty where it is no Python."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ast.Module([], [])


def _imports(tree: ast.Module) -> Iterator[str]:
    """Every module that is imported anywhere, and what is taken from one, by its dotted name."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
