"""Files that attack who opens them, by the command itself: each ends soon, and says why."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest
from hostile_harness import HONEST, ROOT

RIGHT = HONEST.read_text()
SECRET = "the key is 8191"


def command(folder: Path, name: str, *options: str) -> subprocess.Popen[str]:
    kept = {"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT), "PYTHONUTF8": "1"}
    home = str(folder / "home")
    return subprocess.Popen(
        [sys.executable, "-m", "drills", "grade", "stable-softmax", name, *options],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=folder,
        encoding="utf-8",
        env={**kept, "DRILL_HOME": home, "HOME": home},
    )


def grade(folder: Path, name: str, *options: str) -> tuple[int, str, str]:
    process = command(folder, name, *options)
    out, err = process.communicate(timeout=60)
    return process.returncode, out, err


@pytest.fixture
def work(tmp_path: Path) -> Path:
    (tmp_path / "secret.txt").write_text(SECRET)
    return tmp_path


def fifo(path: Path) -> None:
    os.mkfifo(path)


def sparse(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(1 << 40)  # a terabyte that takes no room


HOSTILE = {
    "A153 a link to a secret": (lambda path: path.symlink_to("secret.txt"), 2, "symbolic link"),
    "A153 a dangling link": (lambda path: path.symlink_to("nowhere"), 2, "symbolic link"),
    "A153 a link to itself": (lambda path: path.symlink_to(path.name), 2, "symbolic link"),
    "A155 a pipe that nobody writes": (fifo, 2, "not a regular file"),
    "A155 a device": (lambda path: path.symlink_to("/dev/zero"), 2, "symbolic link"),
    "A155 a folder": (Path.mkdir, 2, "folder"),
    "A160 a terabyte": (sparse, 1, "larger than 256 KiB"),
    "A160 a long line": (lambda path: path.write_text("#" * (1 << 20)), 1, "larger than 256 KiB"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_what_is_no_source_is_refused_at_once_and_never_shown(work: Path, name: str) -> None:
    make, code, words = HOSTILE[name]
    path = work / "softmax.py"
    make(path)
    began = time.monotonic()
    returned, out, err = grade(work, "softmax.py")
    assert time.monotonic() - began < 3
    assert returned == code
    assert words in " ".join((out + err).split())
    assert "Traceback" not in out + err
    assert SECRET not in out + err


def test_a_device_by_its_own_name_is_refused(work: Path) -> None:
    returned, _, err = grade(work, "/dev/zero")
    assert (returned, "not a regular file" in err) == (2, True)


def test_a_line_as_long_as_a_file_may_be_is_graded(work: Path) -> None:
    text = RIGHT + f"\nLONG = '{'x' * ((256 << 10) - len(RIGHT.encode()) - 12)}'\n"
    (work / "softmax.py").write_text(text)
    assert grade(work, "softmax.py")[0] == 0


def test_what_is_judged_is_what_is_recorded_whatever_comes_to_lie_there(work: Path) -> None:
    """A162: other bytes come to the name all the time, right and wrong in turn."""
    path = work / "softmax.py"
    wrong = "def softmax(x, dim=-1):\n    return x * 0\n"
    path.write_text(RIGHT)
    process = command(work, "softmax.py", "--json")
    turns = 0
    while process.poll() is None:
        new = work / "new"
        new.write_text((wrong, RIGHT)[turns % 2])
        new.replace(path)
        turns += 1
        time.sleep(0.01)
    report = json.loads(process.communicate()[0])
    with sqlite3.connect(work / "home" / "drill.db") as connection:
        ((source, verdict),) = connection.execute("SELECT source, verdict FROM attempts").fetchall()
    connection.close()
    assert turns > 10
    assert report["verdict"] == verdict
    assert (source == RIGHT) == (verdict == "passed")


def test_a_line_that_shows_another_order_than_it_runs_in_is_flagged(work: Path) -> None:
    """A159."""
    (work / "softmax.py").write_text(RIGHT + "\n# \u202e desrever \u2066\n", "utf-8")
    returned, out, _ = grade(work, "softmax.py")
    assert returned == 0
    line = RIGHT.count("\n") + 2
    told = " ".join(out.split())
    assert f"Line {line} holds invisible marks that show code in another order" in told
    assert "\u202e" not in out


def test_marks_in_a_name_turn_nothing_around_on_the_screen(work: Path) -> None:
    """A159: the name as a terminal would show it is "softmax_yp.py"."""
    name = "softmax_\u202eyp.py"
    (work / name).write_text("def softmax(x, dim=-1):\n    return undefined\n")
    for given in (name, f"no_{name}"):
        _, out, err = grade(work, given)
        assert "\u202e" not in out + err


@pytest.mark.parametrize("module", ["click", "torch", "numpy", "json", "grader"])
def test_a_module_that_lies_beside_a_submission_is_not_imported(work: Path, module: str) -> None:
    """A141: `python -m` would look in the current folder first."""
    (work / f"{module}.py").write_text("open('reached', 'w').close()\nraise SystemExit(0)\n")
    (work / "softmax.py").write_text(RIGHT)
    returned, out, err = grade(work, "softmax.py")
    assert returned == 0, err
    assert "passed" in out
    assert not (work / "reached").exists()
