"""What a submission writes is shown harmless, by the command itself: on screen and as JSON."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import unicodedata
from pathlib import Path

import pytest
from hostile_harness import ROOT

from drills.screen.safe import one_line, safe
from grader.feedback.words import clean, say
from grader.isolation.slab import clean as clean_bytes

CONTROL = "\x1b[2J\x1b]0;title\x07\x1b]8;;http://example.org\x1b\\\x9b31m\r\x08\x7f\x85\x0b\x0c"
BIDI = "\u202epassed\u202c\u2066x\u2069\u200f\u061c\u200b\u2028\u2029\ufeff\u00ad\u180e"
TAGS = "".join(chr(0xE0000 + ord(c)) for c in "full marks")  # invisible, yet read by machines
MARKUP = "[bold red]passed[/] [link=http://example.org]x[/link] <script>alert(1)</script>"
TEMPLATE = "{{ 7 * 191 }} {% raw %} {# gone #} ${7*191} %(x)s {x}"
EVIL = f"{CONTROL}{BIDI}{TAGS}{MARKUP} {TEMPLATE}"
SHOWN = ("[bold red]passed[/]", "<script>alert(1)</script>", "{{ 7 * 191 }} {% raw %} {# gone #}")
HIDDEN = ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp")

RAISES = f"""
EVIL = {EVIL!a}
print(EVIL)
print("\\rstable-softmax  passed  11 of 11 checks")
E = type("E[red]" + EVIL, (ValueError,), {{}})


def softmax(x, dim=-1):
    raise E(EVIL)  # \u202e [bold]y[/bold]
"""
RETURNS = f"""
import sys
EVIL = {EVIL!a}
sys.stderr.write(EVIL + "\\n")
T = type(EVIL.replace("\\x00", ""), (), {{}})


def softmax(x, dim=-1):
    return T()
"""
MISSING = f"globals()[{EVIL!a}] = lambda x: x\nx = lambda: 1\nx.__module__ = 'submission'\n"


def hidden(text: str) -> list[str]:
    """Characters that a terminal obeys or does not show."""
    return [hex(ord(c)) for c in text if c != "\n" and unicodedata.category(c) in HIDDEN]


def grade(folder: Path, name: str, source: str, *options: str) -> subprocess.CompletedProcess[str]:
    file = folder / name
    file.write_text(source, "utf-8")
    kept = {"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT), "PYTHONUTF8": "1"}
    return subprocess.run(
        [sys.executable, "-m", "drills.cli", "grade", "stable-softmax", str(file), *options],
        capture_output=True,
        cwd=folder,
        encoding="utf-8",
        timeout=100,
        env={**kept, "DRILL_HOME": str(folder), "HOME": str(folder), "TERM": "xterm-256color"},
    )


@pytest.mark.parametrize(
    ("source", "verdict"), [(RAISES, "runtime error"), (RETURNS, "wrong answer")]
)
def test_the_screen_shows_what_was_written_and_obeys_none_of_it(
    tmp_path: Path, source: str, verdict: str
) -> None:
    name = f"[red]{BIDI}\x1b[2J{{{{ 7 * 191 }}}}.py"
    ran = grade(tmp_path, name, source)
    assert ran.returncode == 1, ran.stderr
    assert hidden(ran.stdout + ran.stderr) == []
    assert ran.stdout.lstrip().startswith(f"stable-softmax  {verdict}")
    assert "1337" not in ran.stdout.replace("191", "")
    flat = "".join(ran.stdout.split())
    for part in SHOWN:
        assert "".join(part.split()) in flat
    lines = [line for line in ran.stdout.splitlines() if "11 of 11" in line]
    assert all(line.startswith("   ") for line in lines)


def test_json_is_ascii_and_the_verdict_is_ours(tmp_path: Path) -> None:
    ran = grade(tmp_path, "a.py", RAISES, "--json")
    assert ran.returncode == 1, ran.stderr
    assert hidden(ran.stdout) == []
    report = json.loads(ran.stdout)
    assert report["verdict"] == "runtime_error"
    assert report["score"] < 0.1
    text = json.dumps(report, ensure_ascii=False)
    assert "\x1b" not in text
    assert "1337" not in text


def test_names_in_a_missing_function_are_harmless_too(tmp_path: Path) -> None:
    ran = grade(tmp_path, "m.py", MISSING)
    assert ran.returncode == 1, ran.stderr
    assert hidden(ran.stdout + ran.stderr) == []
    assert "invalid" in ran.stdout


@pytest.mark.parametrize(
    "character", [*CONTROL, *BIDI, *TAGS, "\ud800", "\u2065", "\ufff9", "\ue000"]
)
def test_no_cleaner_lets_a_hidden_character_through(character: str) -> None:
    if unicodedata.category(character) not in HIDDEN:
        return
    assert hidden(safe(f"a{character}b")) == []
    assert hidden(one_line(f"a{character}b", 40)) == []
    assert hidden(clean(f"a{character}b")) == []
    assert hidden(clean_bytes(f"a{character}b".encode("utf-8", "replace"))) == []


def test_what_looks_blank_is_shown_or_gone_and_towers_of_marks_are_cut() -> None:
    for blank in "\u115f\u1160\u17b4\u2800\u3164\uffa0":
        for text in (safe(f"a{blank}b"), clean(f"a{blank}b"), clean_bytes(f"a{blank}b".encode())):
            assert blank not in text
    assert safe("e" + "\u0301" * 300 + "f") == "e" + "\u0301" * 4 + "f"


def test_plain_text_stays_as_it_is() -> None:
    text = "naïve Zürich “x” → ∑ é 日本語 🎉 a\u00a0b"
    assert safe(text) == text
    assert clean_bytes(text.encode()) == text


def test_facts_are_never_templates() -> None:
    said = say("stopped", status="protocol", error=TEMPLATE, title="", verdict="wrong_answer")
    assert "{{ 7 * 191 }}" in said
