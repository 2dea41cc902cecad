"""The benchmark that the README quotes counts what is accepted and what is named wrongly."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
FILE = ROOT / "benchmarks" / "power.py"


@pytest.fixture(scope="module")
def power() -> Any:
    spec = importlib.util.spec_from_file_location("power_benchmark", FILE)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    ("verdict", "names", "same", "counted"),
    [
        ("wrong_answer", {"a", "b"}, False, (0, 1, 0, 0)),
        ("wrong_answer", {"a"}, False, (0, 0, 1, 0)),
        ("wrong_answer", {"a", "c"}, False, (0, 0, 0, 1)),
        ("wrong_answer", {"c", "d"}, True, (0, 1, 0, 0)),
        ("wrong_answer", set(), False, (0, 0, 0, 0)),
        ("passed", set(), False, (1, 0, 0, 0)),
    ],
)
def test_each_outcome_is_counted_as_what_it_is(
    power: Any, verdict: str, names: set[str], same: bool, counted: tuple[int, ...]
) -> None:
    tally = power.Tally()
    tally.add(verdict, {"a", "b"}, names, same)
    assert (tally.accepted, tally.named, tally.partly, tally.misnamed) == counted
    assert tally.given == 1


def test_a_question_is_measured_and_its_row_printed() -> None:
    done = subprocess.run(
        [
            *(sys.executable, str(FILE), "--question", "causal-mask"),
            *("--seeds", "1", "--pairs", "2", "--jobs", "1"),
        ],
        env={**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        timeout=100,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    row = next(line for line in done.stdout.splitlines() if line.startswith("| causal-mask"))
    assert row.split(" | ")[1:3] == ["0 of 5", "9 of 9"]
