"""Real commands in real processes, each test with a home and a workspace of its own."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
BANK = Path(os.environ.get("DRILL_BANK", ROOT / "questions"))


@dataclass(frozen=True)
class Ran:
    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


@dataclass
class Drill:
    """`drill(...)` runs one command; `home` and `work` are its state and its current folder."""

    home: Path
    work: Path
    env: dict[str, str]

    def __call__(self, *arguments: str, stdin: str | bytes = "", **env: str) -> Ran:
        data = stdin.encode() if isinstance(stdin, str) else stdin
        done = subprocess.run(
            [sys.executable, "-m", "drills", *arguments],
            input=data,
            capture_output=True,
            cwd=self.work,
            env={**self.env, **env},
            timeout=100,
        )
        return Ran(done.returncode, done.stdout.decode(), done.stderr.decode())


def _environment(home: Path) -> dict[str, str]:
    kept = {k: v for k, v in os.environ.items() if k in ("PATH", "DRILL_BANK", "LANG")}
    return {
        **kept,
        "PYTHONPATH": str(ROOT),
        "PYTHONUTF8": "1",
        "DRILL_HOME": str(home),
        "HOME": str(home),
        "TERM": "xterm-256color",
    }


@pytest.fixture(scope="session")
def warm_cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The bank's index, built once: what a second command of a learner finds."""
    home = tmp_path_factory.mktemp("warm")
    ran = Drill(home, home, _environment(home))("list", "--json")
    assert ran.code == 0, ran.err
    return home / "cache"


@pytest.fixture
def make_drill(tmp_path: Path, warm_cache: Path) -> Callable[[str], Drill]:
    def make(name: str) -> Drill:
        home, work = tmp_path / f"{name}-home", tmp_path / f"{name}-work"
        home.mkdir()
        work.mkdir()
        shutil.copytree(warm_cache, home / "cache")
        return Drill(home, work, _environment(home))

    return make


@pytest.fixture
def drill(make_drill: Callable[[str], Drill]) -> Drill:
    return make_drill("one")


def right_answer(shown: dict[str, Any]) -> str:
    """The right number for a shown compute question, from the formula that its file names."""
    from importlib import import_module

    from questions.loader import load_bank

    question = load_bank(BANK)[shown["id"]]
    module, _, name = question.formula.rpartition(".")
    return repr(getattr(import_module(module), name)(**shown["parameters"]))
