"""The wheel holds everything: the bank, the styles of right answers, the templates."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="module")
def unpacked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)],
        cwd=ROOT, check=True, capture_output=True,
    )  # fmt: skip
    (wheel,) = folder.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder / "site")
    return folder / "site"


def drill(site: Path, home: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", "from drills.cli import main; main()", *words],
        cwd=home, env={**os.environ, "PYTHONPATH": str(site), "DRILL_HOME": str(home)},
        capture_output=True, text=True, check=False,
    )  # fmt: skip


def test_the_wheel_serves_the_whole_bank(unpacked: Path, tmp_path: Path) -> None:
    files = (ROOT / "questions").glob("*/*.yaml")
    shipped = {file.stem for file in files if file.parent.name != "mistakes"}
    done = drill(unpacked, tmp_path, "list", "--json")
    assert done.returncode == 0, done.stderr
    listed = {q["id"] for q in json.loads(done.stdout)["questions"]}
    assert listed == shipped


def test_a_grade_from_the_wheel_names_the_mistake(unpacked: Path, tmp_path: Path) -> None:
    wrong = tmp_path / "mask.py"
    wrong.write_text(
        "import torch\n\n\ndef causal_mask(t, s):\n"
        "    return torch.ones(t, s, dtype=torch.bool).tril()\n"
    )
    done = drill(unpacked, tmp_path, "grade", "causal-mask", str(wrong), "--json")
    report = json.loads(done.stdout)
    assert (done.returncode, report["verdict"]) == (1, "wrong_answer"), done.stderr
    assert len(report["mistakes"]) == 1


def test_the_wheel_writes_pages(unpacked: Path, tmp_path: Path) -> None:
    done = drill(unpacked, tmp_path, "report", "--out", "page.html")
    assert done.returncode == 0, done.stderr
    assert "<style>\n:root" in (tmp_path / "page.html").read_text()
