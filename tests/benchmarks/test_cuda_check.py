"""The command that proves the GPU path, without a GPU: what it says, and what it would try."""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.append(str(ROOT))  # benchmarks are no part of the distribution

from benchmarks import cuda_check  # noqa: E402
from grader.isolation import accelerator  # noqa: E402
from grader.report import Check, Report, Speed  # noqa: E402

SCRIPT = str(ROOT / "benchmarks" / "cuda_check.py")


def run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    line = [sys.executable, SCRIPT, *arguments]
    return subprocess.run(
        line, cwd=folder, capture_output=True, text=True, check=False, env=dict(os.environ)
    )


@pytest.mark.skipif(bool(accelerator.devices()), reason="there is a GPU here")
def test_without_a_gpu_it_says_so_claims_nothing_and_exits_0(tmp_path: Path) -> None:
    done = run(tmp_path, "--out", "found.json")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("Nothing was measured and nothing is claimed: ")
    assert not (tmp_path / "found.json").exists()


def test_its_grades_are_made_by_real_processes_and_written_down(tmp_path: Path) -> None:
    asked = ("--only", "cheats", "--match", "constant", "--accelerator", "stand-in")
    done = run(tmp_path, *asked, "--out", "found.json")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "All was measured, and holds." in done.stdout
    found = json.loads((tmp_path / "found.json").read_text())
    assert found["reports"]["constant"]["verdict"] == "wrong_answer"
    assert found["reports"]["constant"]["device"] == "cuda"


@pytest.mark.parametrize("module", cuda_check.REFERENCES.values())
def test_a_reference_stands_alone_as_a_submission_must(module: str) -> None:
    tree = ast.parse(cuda_check.alone(module))
    imported = [node for node in ast.walk(tree) if isinstance(node, ast.Import | ast.ImportFrom)]
    names = {getattr(node, "module", None) or node.names[0].name for node in imported}
    assert not any(name.startswith("reference") for name in names)
    defined = {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
    entries = {cuda_check.question(id_)["entry"]: m for id_, m in cuda_check.REFERENCES.items()}
    (entry,) = [name for name, own in entries.items() if own == module]
    assert {entry, "check_device"} <= defined


def graded(verdict: str, **changes: object) -> Report:
    report = Report("fused-attention", "kernel", verdict, 1.0, 7)  # type: ignore[arg-type]
    return Report(**{**vars(report), **changes})


def speed(seconds: float = 1e-3, tier: str = "fast", fused: float = 1.0) -> Speed:
    triple = (1.0, 1.0, 1.0)
    return Speed(triple, (fused, fused, fused), triple, tier=tier, cpu_seconds=seconds)


@pytest.mark.parametrize(
    ("wanted", "report", "holds"),
    [
        ("wrong_answer", graded("wrong_answer"), True),
        ("wrong_answer", graded("passed"), False),
        ("refused", graded("passed", speed=speed(tier="")), True),
        ("refused", graded("wrong_answer"), True),
        ("refused", graded("passed", speed=speed()), False),
        ("charged", graded("passed", speed=speed(0.1)), True),
        ("charged", graded("passed", speed=speed(0.001)), False),
        ("passed", graded("passed", speed=speed()), True),
        ("passed", graded("passed", checks=(Check("kernels", "not_run"),)), False),
        ("passed", graded("passed", checks=(Check("device/cpu", "not_run"),)), True),
    ],
)
def test_what_counts_as_holding(wanted: str, report: Report, holds: bool) -> None:
    one = cuda_check.Try("one", cuda_check.question("fused-softmax"), b"", wanted)
    assert (not cuda_check.failure(one, report)) == holds


@pytest.mark.parametrize(("fused", "holds"), [(1.2, True), (1.5, False)])
def test_the_reference_is_to_reach_its_part_of_torchs_speed(fused: float, holds: bool) -> None:
    asked = cuda_check.question("fused-attention")
    one = cuda_check.Try("triton_attention for fused-attention", asked, b"")
    assert (not cuda_check.failure(one, graded("passed", speed=speed(fused=fused)))) == holds
    sizes, call = asked["cuda"]["speed"]["sizes"], asked["cuda"]["speed"]
    assert (sizes["T"], sizes["S"], sizes["D"], call["dtype"]) == (4096, 4096, 128, "bfloat16")
    assert call["inputs"]["causal"]["value"] is True


def test_each_cheat_says_what_must_come_of_it() -> None:
    known = {"wrong_answer", "too_costly", "charged", "refused", "unreliable", "passed"}
    tries = list(cuda_check.cheats())
    assert {one.wanted for one in tries} <= known
    names = [one.name for one in tries]
    assert {"side_stream", "patched_events", "by_address", "honest"} <= set(names)
    for one in tries:
        ast.parse(one.source)


@pytest.mark.skipif(bool(accelerator.devices()), reason="there is a GPU here")
def test_without_a_gpu_no_launch_is_measured() -> None:
    script = str(ROOT / "benchmarks" / "cuda_launches.py")
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout[:20]) == (0, "Nothing was measured")
