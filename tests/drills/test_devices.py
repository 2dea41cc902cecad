"""Which device a kernel is graded on, what is said where it is missing, what was measured."""

from __future__ import annotations

import importlib.util
from dataclasses import replace
from importlib.machinery import ModuleSpec
from pathlib import Path

import pytest
from conftest import Drill

from drills import devices
from drills.screen.kernel import kernel_lines
from grader.isolation import accelerator
from grader.report import UNTRIED, Check, Device, Growth, Report, Rung, Speed, Verdict

KERNEL = {"id": "fused-attention", "kind": "kernel"}
TORCH = "import torch\n"


def torch_says(monkeypatch: pytest.MonkeyPatch, folder: Path, note: str) -> None:
    (folder / "version.py").write_text(f"from typing import Optional\n__version__ = '3'\n{note}\n")
    spec = ModuleSpec("torch", None, origin=str(folder / "__init__.py"))
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: spec)


def test_without_a_device_a_kernel_is_not_run_on_cuda_and_what_is_missing_is_said(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(accelerator, "devices", list)
    chosen = devices.choose(KERNEL, TORCH.encode(), "cuda")
    assert "no NVIDIA device" in chosen.lacking
    assert chosen.remedy == "drill grade fused-attention --device cpu"
    assert "no NVIDIA device" in devices.here()["cuda"]


@pytest.mark.parametrize(
    ("note", "lacking"),
    [
        ("cuda: Optional[str] = None", "built without CUDA"),
        ("debug = False", "built without CUDA"),
        ("cuda: Optional[str] = '13.0'", ""),
        ('cuda = "12.8"', ""),
    ],
)
def test_a_device_is_of_no_use_to_a_torch_that_is_built_without_cuda(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, note: str, lacking: str
) -> None:
    monkeypatch.setattr(accelerator, "devices", lambda: ["/dev/nvidia0"])
    torch_says(monkeypatch, tmp_path, note)
    chosen = devices.choose(KERNEL, TORCH.encode(), "cuda")
    assert lacking in chosen.lacking
    assert bool(chosen.lacking) == bool(lacking)


def test_where_cuda_is_doctor_says_that_nobody_has_tried_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(accelerator, "devices", lambda: ["/dev/nvidia0"])
    monkeypatch.setattr(devices, "has_triton", lambda: False)
    torch_says(monkeypatch, tmp_path, "cuda: Optional[str] = '13.0'")
    assert UNTRIED in devices.here()["cuda"]


@pytest.mark.skipif(bool(accelerator.devices()), reason="there is a device here")
def test_the_command_says_in_one_sentence_what_is_missing_and_exits_1(drill: Drill) -> None:
    (drill.work / "k.py").write_text("def fused_softmax(x):\n    return x.softmax(1)\n")
    ran = drill("grade", "fused-softmax", "k.py", "--device", "cuda")
    assert ran.code == 1
    assert "Not run: this machine shows no NVIDIA device (no /dev/nvidia0)." in ran.err
    assert "Next: drill grade fused-softmax --device cpu" in ran.err


@pytest.mark.parametrize(
    ("source", "device"),
    [
        ("from torch.utils.cpp_extension import load_inline", "cuda"),
        ("from torch.utils import cpp_extension as build", "cuda"),
        ("import torch.utils.cpp_extension", "cuda"),
        ("import triton\ndef f():\n    from torch.utils.cpp_extension import load", "cuda"),
        ("import triton.language as tl", "interpret"),
        ("from triton import jit", "interpret"),
        ("from torch.utils import benchmark", "cpu"),
        ("# from torch.utils.cpp_extension import load\nimport torch", "cpu"),
        ("from .triton import jit", "cpu"),
        ("no Python (", "cpu"),
    ],
)
def test_a_kernel_goes_to_the_device_that_it_is_written_for(
    monkeypatch: pytest.MonkeyPatch, source: str, device: str
) -> None:
    monkeypatch.setattr(devices, "has_triton", lambda: True)
    assert devices.choose(KERNEL, source.encode(), None).device == device
    assert devices.choose(KERNEL, source.encode(), "cpu").device == "cpu"
    assert devices.choose({"id": "x", "kind": "code"}, source.encode(), None).device == "cpu"


@pytest.mark.parametrize(
    ("call", "alone"),
    [
        ("load_inline('x', cpp_sources=A)", True),
        ("c.load_inline('x', A)", True),
        ("load_inline('x', A, B)", False),
        ("load_inline('x', A, cuda_sources=B)", False),
        ("load_inline('x', **sources)", False),
        ("load('x', ['x.cu'])", False),
        ("load_inline('x', A); load('y', ['y.cu'])", False),
        ("pass", False),
    ],
)
def test_an_extension_of_cpp_alone_is_told_from_one_with_a_kernel(call: str, alone: bool) -> None:
    assert devices.without_kernel(call.encode()) is alone


def ended(verdict: Verdict, device: Device, source: str) -> Report:
    report = Report("fused-softmax", "kernel", verdict, 0.0, 3, summary="It ended.", device=device)
    return devices.told(report, source.encode())


def test_a_kernel_that_ended_on_another_device_hears_which_is_its_own() -> None:
    triton = "import triton"
    cuda = "from torch.utils.cpp_extension import load_inline\nload_inline('x', A, B)"
    assert "--device interpret" in ended("runtime_error", "cpu", triton).summary
    assert "--device cuda only" in ended("runtime_error", "cpu", cuda).summary
    assert "--device cuda only" in ended("denied", "interpret", cuda).summary
    for verdict, device, source in (
        ("runtime_error", "interpret", triton),
        ("runtime_error", "cuda", triton),
        ("runtime_error", "cuda", cuda),
        ("passed", "cpu", triton),  # it does without where there is no Triton
        ("runtime_error", "cpu", TORCH),
    ):
        assert ended(verdict, device, source).summary == "It ended."  # type: ignore[arg-type]
    assert "no kernel" in ended("passed", "cuda", cuda.replace(", B", "")).notes[0]
    assert not ended("passed", "cuda", cuda).notes


@pytest.mark.parametrize(
    ("folder", "ninja", "said"),
    [
        ("/usr/local/cuda", "/bin/ninja", ""),
        ("", "/bin/ninja", "building CUDA C++ needs nvcc (CUDA's toolkit)"),
        ("", "", "nvcc (CUDA's toolkit) and ninja (pip install ninja)"),
    ],
)
def test_beside_a_device_what_the_build_lacks_is_said(
    monkeypatch: pytest.MonkeyPatch, folder: str, ninja: str, said: str
) -> None:
    monkeypatch.setattr(devices, "without_cuda", lambda: ("", ""))
    monkeypatch.setattr(accelerator, "toolkit", lambda: folder)
    monkeypatch.setattr(accelerator, "environment", lambda: {"PATH": "/bin", "CXX": "/bin/g++"})
    monkeypatch.setattr("shutil.which", lambda name, path: ninja or None)
    source = b"from torch.utils.cpp_extension import load"
    chosen = devices.choose(KERNEL, source, None)
    assert said in chosen.lacking
    assert bool(said) == bool(chosen.lacking) == bool(chosen.remedy)
    assert not devices.choose(KERNEL, TORCH.encode(), "cuda").lacking


@pytest.mark.skipif(bool(accelerator.devices()), reason="there is a device here")
@pytest.mark.parametrize(
    ("sources", "said"),
    [
        ("cuda_sources=B", "for --device cuda only, and this machine shows no NVIDIA device"),
        ("cpp_sources=A", "without cuda_sources is C++ for the processor"),
    ],
)
def test_an_extension_is_not_run_where_no_device_is(drill: Drill, sources: str, said: str) -> None:
    text = f"from torch.utils.cpp_extension import load_inline\nload_inline('x', {sources})\n"
    (drill.work / "k.py").write_text(text)
    ran = drill("grade", "fused-softmax", "k.py", "--json")
    assert (ran.code, ran.json["verdict"], ran.json["device"]) == (1, "not_run", "cuda")
    assert said in ran.json["summary"]


def test_memory_that_does_not_grow_is_told_in_words() -> None:
    flat = tuple(Growth(what, 0.0, 0.0, 1.3, (5, 5, 5)) for what in ("tensor", "memory"))  # type: ignore[arg-type]
    report = Report("fused-softmax", "kernel", "passed", 1.0, 3, growth=flat)
    words = " ".join(" ".join(line.plain.split()) for line in kernel_lines(report, 80))
    assert "the largest tensor does not grow, the process grows by too little to be" in words


def test_what_was_measured_on_a_device_is_told_as_such() -> None:
    triple = (2.0, 1.9, 2.1)
    speed = Speed(
        triple,
        triple,
        (1.0, 0.9, 1.1),
        (Rung("slow", True), Rung("fast", None), Rung("near", False)),
        cpu_seconds=5e-4,
        seconds=7e-4,
    )
    report = Report(
        "fused-attention",
        "kernel",
        "passed",
        1.0,
        3,
        checks=(Check("kernels", "not_run", "the profiler sees none", "kernels of a call"),),
        device="cuda",
        growth=(Growth("device", 1.02, 0.01, 1.2, (1, 2, 4)),),
        speed=speed,
    )
    lines = kernel_lines(report, 80)
    assert all(len(line.plain) <= 80 for line in lines)
    words = " ".join(" ".join(line.plain.split()) for line in lines)
    assert "the device grows as length^1.02 ± 0.01; at most length^1.2 is asked for" in words
    assert "0.5 ms on the device a call (0.7 ms by the clock)" in words
    assert "Ladder ✓ slow ? fast (at its edge: not certain) – near " in words
    assert "Work" not in words
    fused = Check("kernels", "passed", "1 kernel a call", "kernels of a call")
    lines = kernel_lines(replace(report, checks=(fused,)), 80)
    assert any(line.plain.split() == ["Work", "1", "kernel", "a", "call"] for line in lines)
    assert "Not run kernels of a call: the profiler sees none" in words


def test_the_rung_above_the_highest_that_is_reached_is_marked_as_the_next() -> None:
    triple = (2.0, 1.9, 2.1)
    rungs = (Rung("slow", True), Rung("fast", False), Rung("near", False))
    speed = Speed(triple, triple, triple, rungs, tier="slow", next="fast")
    report = Report("fused-attention", "kernel", "passed", 1.0, 3, device="cpu", speed=speed)
    lines = [" ".join(line.plain.split()) for line in kernel_lines(report, 80)]
    assert lines[-3:] == ["Ladder ✓ slow", "– fast (next)", "– near"]
