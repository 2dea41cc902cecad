"""Starters are the first code that a learner's editor checks: it has nothing to complain of."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import get_type_hints

import pytest

from questions.kinds import CODE_KINDS
from questions.loader import load_bank

BANK = Path(os.environ.get("DRILL_BANK", Path(__file__).resolve().parents[2] / "questions"))
_GENERIC = "from typing import Generic, TypeVar\nT = TypeVar('T')\n"
# The libraries' own types take ten seconds to read: torch's are left out, and these are NumPy's.
STUBS = {
    "numpy/__init__.pyi": _GENERIC
    + "class floating(Generic[T]): ...\ndef __getattr__(name: str) -> object: ...\n",
    "numpy/typing.pyi": _GENERIC + "class NDArray(Generic[T]): ...\n",
}


@pytest.fixture(scope="module")
def starters(tmp_path_factory: pytest.TempPathFactory) -> dict[Path, str]:
    """By their files, the functions to write."""
    folder = tmp_path_factory.mktemp("starters")
    found = {}
    for question in load_bank(BANK).values():
        if question.kind in CODE_KINDS:
            path = folder / f"{question.id.replace('-', '_')}.py"
            path.write_text(question.starter)
            found[path] = question.entry
    return found


def test_starters_are_typed_throughout(starters: dict[Path, str], tmp_path: Path):
    for name, text in STUBS.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    command = [sys.executable, "-m", "mypy", "--config-file=", f"--cache-dir={os.devnull}"]
    command += ["--strict", "--no-warn-return-any", "--ignore-missing-imports"]
    command += ["--no-site-packages", "--allow-subclassing-any"]
    ran = subprocess.run(
        [*command, *map(str, starters)],
        env={**os.environ, "MYPYPATH": str(tmp_path)},
        capture_output=True,
        text=True,
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr


def test_the_types_in_starters_exist(starters: dict[Path, str]):
    for path, entry in starters.items():
        names: dict[str, object] = {}
        exec(compile(path.read_text(), path.name, "exec"), names)
        assert "return" in get_type_hints(names[entry]), path.name
