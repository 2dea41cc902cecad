"""Question files that attack who reads them: each is a finding with its place, and soon."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest
from hostile_harness import ROOT

from questions.content import check
from questions.loader import DEFAULT_ROOT
from questions.patterns import is_endless

CODE = (DEFAULT_ROOT / "softmax" / "stable-softmax.yaml").read_text("utf-8")
TEXT = next(DEFAULT_ROOT.glob("*/explain-sqrt-dk.yaml")).read_text("utf-8")
TRACE = next(DEFAULT_ROOT.glob("*/attention-by-hand.yaml")).read_text("utf-8")
SECONDS = 2.0


def bomb(levels: int) -> str:
    rows = ["a0: &a0 [x, x, x]"]
    rows += [f"a{i}: &a{i} [*a{i - 1}, *a{i - 1}, *a{i - 1}]" for i in range(1, levels)]
    return "\n".join(rows)


def with_pattern(pattern: str) -> str:
    at = TEXT.index("says:")
    start, end = TEXT.index("\n", at), TEXT.index("hints_at:", at)
    indent = TEXT[start : TEXT.index("-", start)]
    return f"{TEXT[:start]}{indent}- '{pattern}'\n    {TEXT[end:]}"


HOSTILE = {
    "a tag that runs a command": (CODE, ("level: 1", "level: !!python/object/apply:os.system [id]"),
                                  "tags (!name) are not taken"),
    "a tag of its own": (CODE, ("level: 1", "level: !Loader 1"), "tags (!name) are not taken"),
    "a tag on the whole": (CODE, ("id: stable", "--- !!python/object:os.system\nid: stable"),
                           "tags (!name) are not taken"),
    "an alias bomb": (CODE, ("level: 1", bomb(40)), "are not taken"),
    "a merge key": (CODE, ("level: 1", "level: 1\n<<: *a"), "are not taken"),
    "a key that stands there twice": (CODE, ("level: 1", "level: 1\nlevel: 2"), "was given before"),
    "a key that hides another": (CODE, ("entry: softmax", "entry: softmax\nentry: system"),
                                 "was given before"),
    "a huge size": (CODE, ("sizes: {N: 7}", "sizes: {N: 1000000000000}"), "make it smaller"),
    "a huge product": (CODE, ("sizes: {B: 2, T: 5, N: 9}", "sizes: {B: 65536, T: 65536, N: 9}"),
                       "make it smaller"),
    "a huge expression": (CODE, ("shape: [B, T, N], std: 2.0, about",
                                 'shape: [B, "N * N * 1000000000", T], std: 2.0, about'),
                          "make it smaller"),
    "a size beyond any": (CODE, ("shape: [B, T, N], std: 2.0, about",
                                 'shape: [B, "99999999999 * 99999999999", N], std: 2.0, about'),
                          "larger than any size"),
    "a power": (CODE, ("shape: [B, T, N], std: 2.0, about",
                       'shape: [B, "9 ** 9 ** 9", N], std: 2.0, about'), "may hold only"),
    "code for a size": (CODE, ("shape: [B, T, N], std: 2.0, about",
                               'shape: [B, "__import__(''os'')", N], std: 2.0, about'),
                        "may hold only"),
    "a number without an end": (CODE, ("minutes: 6", "minutes: " + "9" * 5000), "too large"),
    "a huge matrix by hand": (TRACE, ("shape: [3, 3]", "shape: [100000, 100000]"),
                              "make it smaller"),
    "a module of its own": (CODE, ("reference: reference.softmax.softmax",
                                   "reference: os.system"), "dotted name"),
    "a way out of reference": (CODE, ("reference: reference.softmax.softmax",
                                      "reference: reference.os.system"), "is not defined"),
    "a regex bomb": (with_pattern("(a+)+$"), None, "takes too long"),
    "a bomb of words": (with_pattern(r"(?:\w+\s*)*mask"), None, "takes too long"),
    "a slow regex": (with_pattern(".*.*.*.*.*x"), None, "takes too long"),
    "deep brackets": ("a: " + "[" * 100_000, None, "nest"),
    "deep indentation": ("\n".join(" " * i + f"k{i}:" for i in range(300)), None, "nested more"),
    "control characters": (CODE.replace("minutes: 6", "minutes: 6 # \x1b[2J"), None,
                           "a control character"),
}  # fmt: skip


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_question_is_a_finding_with_its_place(tmp_path: Path, name: str) -> None:
    text, change, says = HOSTILE[name]
    if change:
        assert change[0] in text
        text = text.replace(*change, 1)
    words = dict(re.findall(r"^(id|topic): ([\w-]+)$", text, re.M))
    path = tmp_path / words.get("topic", "x") / f"{words.get('id', 'x')}.yaml"
    path.parent.mkdir()
    path.write_text(text, "utf-8")
    began = time.process_time()
    findings = check(path)
    assert time.process_time() - began < SECONDS
    told = [finding for finding in findings if says in finding.message]
    assert told, findings[:3]
    assert told[0].path == str(path)
    assert (told[0].line, told[0].column) >= (1, 1)
    assert len(findings) < 200
    assert all(str(finding).isprintable() and len(str(finding)) < 700 for finding in findings)


def test_no_shipped_pattern_is_near_the_limit() -> None:
    """As `drill bank check` finds; here, that the trial itself tells good from bad."""
    assert not is_endless(r"\bcache\w*(?:(?!not)[^;]){0,80}\b(?:grows|linear)\b")
    assert not is_endless(r"^(?:\w+ )*mask$")
    assert is_endless("(a|aa)+$")
    assert is_endless("([a-z]+)*=")


def test_the_command_prints_findings_and_runs_nothing(tmp_path: Path) -> None:
    bank = tmp_path / "bank"
    (bank / "softmax").mkdir(parents=True)
    marker = tmp_path / "ran"
    evil = f"level: !!python/object/apply:os.system ['touch {marker}']"
    file = bank / "softmax" / "stable-softmax.yaml"
    file.write_text(CODE.replace("level: 1", evil), "utf-8")
    kept = {"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT), "PYTHONUTF8": "1"}
    began = time.monotonic()
    ran = subprocess.run(
        [sys.executable, "-m", "drills.cli", "bank", "check", str(file), "--quick"],
        capture_output=True,
        text=True,
        timeout=60,
        env={**kept, "DRILL_HOME": str(tmp_path / "home"), "HOME": str(tmp_path)},
    )
    assert time.monotonic() - began < 10
    assert ran.returncode == 1, ran.stderr
    assert f"{file}:" in ran.stdout
    assert "tags (!name) are not taken" in ran.stdout
    assert "Traceback" not in ran.stdout + ran.stderr
    assert not marker.exists()
