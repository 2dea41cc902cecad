"""Imports between the rooms go one way, and the lint rule that says so is alive."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent


@pytest.mark.parametrize(
    ("room", "line"),
    [
        ("questions", "import reference.counting"),
        ("questions", "from grader import report"),
        ("questions", "import torch"),
        ("reference", "from grader.report import Report"),
        ("reference", "import drills.cli"),
        ("grader", "from drills import cli"),
        ("grader", "import rich.console"),
        ("grader", "import click"),
    ],
)
def test_an_import_against_the_direction_is_refused_by_the_linter(room: str, line: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "ruff", "check", "--no-cache", "--select", "TID251",
         "--stdin-filename", f"{room}/sample.py", "-"],
        input=f"{line}\n", cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 1, done.stdout + done.stderr
    assert "TID251" in done.stdout


def test_no_module_is_longer_than_a_few_screens() -> None:
    long = {
        str(path.relative_to(ROOT)): lines
        for room in ("drills", "grader", "reference", "questions")
        for path in (ROOT / room).rglob("*.py")
        if (lines := len(path.read_text().splitlines())) > 450
    }
    assert not long
