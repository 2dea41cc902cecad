"""Answers judged in a process beside this one: the same reports, whatever becomes of it."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest
from bank import question

from grader import answers
from grader.answers.beside import Beside

ANSWERS = {
    "derive-sqrt-dk": "0\n1\nd_k\nsqrt(d_k)\n1/d_k",
    "kv-cache-size": "2.4 GB",
    "choice-causal-leak": "c",
    "explain-sqrt-dk": "The variance is d_k — so we scale; “émotions” aside.",
    "attention-by-hand": "1 2",
}


def test_the_reports_are_those_that_would_be_made_here() -> None:
    with Beside() as judge:
        for id_, text in ANSWERS.items():
            here = answers.grade_answer(question(id_), text, 7, {})
            there = judge.grade_answer(question(id_), text, 7, {})
            assert replace(there, seconds=0.0) == replace(here, seconds=0.0)
        asked = question("derive-sqrt-dk")
        for text in ("d_k", ")(", "dk^2"):
            assert judge.unreadable(asked, 2, text) == answers.unreadable(asked, 2, text)
        assert judge.unreadable(question("attention-by-hand"), 0, "one") != ""


def test_one_that_died_is_said_to_be_our_fault_and_the_next_answer_is_judged() -> None:
    asked = question("kv-cache-size")
    with Beside() as judge:
        assert judge.grade_answer(asked, "2.4 GB", 7, {}).verdict == "wrong_answer"
        assert judge._process is not None
        judge._process.kill()
        found = [judge.grade_answer(asked, "2.4 GB", 7, {}).verdict for _ in range(3)]
        assert found[-1] == "wrong_answer"
        assert set(found) <= {"wrong_answer", "grader_error"}
        broken = {**asked, "formula": "reference.nothing.at_all"}
        assert judge.grade_answer(broken, "2.4 GB", 7, {}).verdict == "grader_error"
        assert judge.grade_answer(asked, "2.4 GB", 7, {}).verdict == "wrong_answer"


@pytest.mark.skipif(sys.platform == "win32", reason="kills as POSIX does")
def test_it_ends_with_its_parent_and_imports_nothing_of_the_current_folder(tmp_path: Path) -> None:
    (tmp_path / "json.py").write_text("raise SystemExit('the learner\\'s own file')\n")
    script = (
        "import os, time; from grader.answers.beside import Beside; judge = Beside();"
        f"os.chdir({str(tmp_path)!r});"
        "print(judge.unreadable({'kind': 'trace', 'parts': [{'shape': [1, 1]}]}, 0, 'one'));"
        "print(judge._process.pid, flush=True); time.sleep(60)"
    )
    root = Path(__file__).resolve().parents[2]
    parent = subprocess.Popen(
        [sys.executable, "-c", script], stdout=subprocess.PIPE, text=True, cwd="/",
        env={**os.environ, "PYTHONPATH": str(root)},
    )  # fmt: skip
    assert parent.stdout is not None
    assert (
        len(parent.stdout.readline()) > 10
    )  # why it cannot be read, and not the silence of a death
    child = int(parent.stdout.readline())
    parent.kill()
    parent.communicate()
    deadline = time.monotonic() + 20
    while _lives(child):
        assert time.monotonic() < deadline
        time.sleep(0.05)


def _lives(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    try:  # not taken leave of by its new parent yet
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
