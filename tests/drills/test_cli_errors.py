"""Bad input: one sentence, the right exit code, nothing lost, never a traceback."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import ROOT, Drill, Ran, right_answer

from drills.store import Store

RIGHT = "import torch\ndef causal_mask(t, s):\n    return torch.ones(t, s).tril(s - t).bool()\n"


def one_sentence(ran: Ran, code: int, *words: str) -> None:
    assert ran.code == code, (ran.out, ran.err)
    assert "Traceback" not in ran.err + ran.out
    lines = ran.err.strip().splitlines()
    assert len(lines) == 1, ran.err
    assert ran.out == ""
    for word in words:
        assert word in ran.err


@pytest.mark.parametrize("verb", ["show", "answer", "start", "grade", "hint", "solution", "reset"])
def test_an_unknown_id_is_met_with_suggestions(drill: Drill, verb: str):
    one_sentence(drill(verb, "kv-cach-size"), 2, "kv-cache-size")
    if verb != "grade":
        one_sentence(drill(verb, "\x1b[2Jzzz"), 2, "drill list", "\\x1b")


def test_an_unknown_command_or_topic_is_met_with_a_suggestion(drill: Drill):
    one_sentence(drill("grdae"), 2, "Did you mean grade?")
    for verb in ("list", "next"):
        one_sentence(drill(verb, "--topic", "kv-cash"), 2, "Did you mean kv-cache")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("grade", "--seed", "-1"), "no whole number from 0 to"),
        (("next", "--kind", "riddle"), "'choice'"),
        (("show", "--colour"), "--colour"),
        (("start",), "'ID'"),
    ],
)
def test_a_misused_command_says_how_it_is_called(
    drill: Drill, arguments: tuple[str, ...], words: str
):
    ran = drill(*arguments)
    assert (ran.code, ran.out) == (2, "")
    first, second = ran.err.splitlines()
    assert words in first
    assert second.startswith(f"Usage: drill {arguments[0]} ")
    assert "--help" in second


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        ("missing", "no file"),
        ("folder", "folder"),
        ("binary", "binary"),
        ("empty", "empty"),
        ("large", "256 KiB"),
        ("link", "link"),
        ("pipe", "regular file"),
        ("nul", "cannot be read"),
    ],
)
def test_a_file_that_cannot_be_graded_is_named_with_the_reason(drill: Drill, kind: str, words: str):
    path = drill.work / "answer.py"
    if kind == "folder":
        path.mkdir()
    elif kind == "binary":
        path.write_bytes(b"\x7fELF\x00\x01" * 50)
    elif kind == "empty":
        path.write_text("  \n")
    elif kind == "large":
        path.write_text("x = 1\n" * 60_000)
    elif kind == "link":
        (drill.work / "real.py").write_text(RIGHT)
        path.symlink_to("real.py")
    elif kind == "pipe":
        os.mkfifo(path)
    name = "answer.py" if kind != "nul" else "a" * 5000 + ".py"
    invalid = kind in ("binary", "empty", "large")  # a file, but none that can be a submission
    one_sentence(drill("grade", "causal-mask", name), 1 if invalid else 2, words)
    if invalid:
        ran = drill("grade", "causal-mask", name, "--json")
        assert (ran.code, ran.json["verdict"]) == (1, "invalid")
        assert words in ran.json["summary"]
    assert Store(drill.home, print).attempts() == []


def test_a_starter_left_as_it_was_is_no_attempt(drill: Drill):
    assert drill("start", "causal-mask").code == 0
    one_sentence(drill("grade"), 2, "causal_mask.py is still the starter")
    assert drill("start", "debug-gpt").code == 0
    one_sentence(drill("grade"), 2, "debug_gpt.py is still the code as shipped")
    assert Store(drill.home, print).attempts() == []


def test_the_wrong_kind_of_answer_is_pointed_to_the_right_command(drill: Drill):
    one_sentence(drill("answer", "attention", "x"), 2, "drill grade attention")
    one_sentence(drill("grade", "kv-cache-size", "x.py"), 2, "drill answer kv-cache-size")
    one_sentence(drill("start", "kv-cache-size"), 2, "drill answer kv-cache-size")
    one_sentence(drill("grade", "attention"), 2, "drill start attention")
    one_sentence(drill("grade"), 2, "drill next")


@pytest.mark.parametrize("text", ["", "   ", "\n\n"])
def test_an_empty_answer_is_no_answer(drill: Drill, text: str):
    one_sentence(drill("answer", "derive-sqrt-dk", text), 2, "empty")
    one_sentence(drill("answer", "derive-sqrt-dk", stdin=text), 2, "empty")


def test_answers_that_are_not_text_or_far_too_long_are_refused(drill: Drill):
    one_sentence(drill("answer", "derive-sqrt-dk", "-", stdin=b"\xff\xfe\x00"), 2, "not text")
    one_sentence(drill("answer", "derive-sqrt-dk", stdin="x" * 70_000), 2, "longer")


def test_a_broken_bank_names_file_line_and_column(drill: Drill, tmp_path: Path):
    bank = tmp_path / "bank"
    (bank / "kv-cache").mkdir(parents=True)
    shutil.copytree(ROOT / "questions" / "mistakes", bank / "mistakes")
    text = (ROOT / "questions" / "kv-cache" / "kv-bytes-per-token.yaml").read_text()
    path = bank / "kv-cache" / "kv-bytes-per-token.yaml"
    path.write_text(text.replace("level: 1", "level: nine"))
    line = text.splitlines().index("level: 1") + 1
    assert drill("bank", "trust", str(bank)).code == 0
    for command in (("next",), ("list",), ("grade", "x"), ("stats",)):
        ran = drill(*command, DRILL_BANK=str(bank))
        assert ran.code == 4
        assert f"kv-bytes-per-token.yaml:{line}:" in ran.err
        assert "drill bank check" in ran.err
        assert "DRILL_BANK" in ran.err
        assert "Traceback" not in ran.err
    ran = drill("bank", "check", str(bank), "--quick")
    assert ran.code == 1
    assert ran.out.startswith(f"{path}:{line}:")
    one_sentence(drill("list", DRILL_BANK=str(tmp_path / "none")), 4, "none to take a bank from")
    one_sentence(drill("--bank", str(tmp_path / "none"), "list"), 4, "none to take a bank from")


def test_a_bank_from_elsewhere_is_used_only_when_told_to_trust_it(drill: Drill, tmp_path: Path):
    bank = tmp_path / "other bank"
    (bank / "softmax").mkdir(parents=True)
    text = (ROOT / "questions" / "softmax" / "stable-softmax.yaml").read_text()
    path = bank / "softmax" / "my-softmax.yaml"
    alone = text.partition("\nfollow_ups:")[0] + "\n"  # they lead to questions of our bank
    path.write_text(alone.replace("id: stable-softmax", "id: my-softmax"))
    here = ("--bank", str(bank))
    for command in (("list",), ("next",), ("grade", "my-softmax", "x.py"), ("stats",)):
        one_sentence(drill(*here, *command), 2, f"drill bank trust '{bank}'")
        one_sentence(drill(*command, DRILL_BANK=str(bank)), 2, "drill bank trust", str(bank))
    ran = drill("bank", "check", str(bank), "--quick")  # to look needs no trust
    assert (ran.code, ran.out) == (0, "")
    assert drill("bank", "trust").out == ""
    assert drill("bank", "trust", str(bank)).code == 0
    assert drill("bank", "trust").out == f"{bank}\n"
    assert [q["id"] for q in drill(*here, "list", "--json").json["questions"]] == ["my-softmax"]
    assert "stable-softmax" in drill("list").out
    wrong = "def softmax(x, dim=-1):\n    return x.exp() / x.exp().sum(dim, keepdim=True)\n"
    (drill.work / "mine.py").write_text(wrong)
    found = drill(*here, "grade", "my-softmax", "mine.py", "--json").json
    assert "softmax-overflow" in [m["id"] for m in found["mistakes"]]  # by the texts of ours
    assert drill("--bank", str(tmp_path), "list").code == 2  # the word holds for one folder
    assert drill("bank", "trust", "--no-more", str(bank)).code == 0
    one_sentence(drill(*here, "list"), 2, "drill bank trust")


def test_a_damaged_or_unwritable_list_of_trusted_banks_trusts_nothing(drill: Drill, tmp_path: Path):
    bank = tmp_path / "bank"
    bank.mkdir()
    drill.home.mkdir(exist_ok=True)
    for text in ("{", "[1, null]", '{"a": 1}', "\x00", f'"{bank}"'):
        (drill.home / "trusted-banks.json").write_text(text)
        one_sentence(drill("--bank", str(bank), "list"), 2, "drill bank trust")
    one_sentence(drill("bank", "trust", str(bank / "none")), 2, "no folder")
    nowhere = str(drill.work / "file" / "home")
    (drill.work / "file").write_text("")
    one_sentence(drill("bank", "trust", str(bank), DRILL_HOME=nowhere), 4, "cannot be written")


def test_a_newer_database_stops_every_command_and_stays_as_it_is(drill: Drill):
    assert drill("next").code == 0
    path = drill.home / "drill.db"
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA user_version = 99")
    connection.close()
    content = path.read_bytes()
    for command in (("next",), ("list",), ("stats",), ("skip",), ("export",)):
        one_sentence(drill(*command), 4, "newer drill", "99")
    assert drill("doctor").code == 4
    assert path.read_bytes() == content


def test_a_corrupt_database_is_kept_and_practice_goes_on(drill: Drill):
    assert drill("next").code == 0
    (drill.home / "drill.db").write_bytes(b"garbage" * 999)
    ran = drill("next")
    assert ran.code == 0
    kept = list(drill.home.glob("drill.db.corrupt-*"))
    assert b"garbage" * 999 in [path.read_bytes() for path in kept]
    assert "damaged" in ran.err
    assert drill("next").err == ""


def test_a_home_that_cannot_be_made_still_serves_and_grades(drill: Drill):
    (drill.work / "file").write_text("in the way")
    home = str(drill.work / "file" / "home")
    ran = drill("next", "--kind", "compute", "--json", DRILL_HOME=home)
    assert ran.code == 0
    assert "Nothing is being remembered" in ran.err
    shown = drill("show", "kv-cache-size", "--seed", "5", "--json", DRILL_HOME=home).json
    ran = drill(
        "answer", "kv-cache-size", right_answer(shown), "--seed", "5", "--json", DRILL_HOME=home
    )
    assert (ran.code, ran.json["verdict"]) == (0, "passed")
    one_sentence(drill("skip", "kv-cache-size", DRILL_HOME=home), 4, "DRILL_HOME")
    one_sentence(drill("reset", "kv-cache-size", DRILL_HOME=home), 4, "DRILL_HOME")
    assert drill("doctor", DRILL_HOME=home).code == 4


def _without_roots_privilege() -> None:
    """In the child: file permissions hold for root too (CAP_DAC_OVERRIDE, _READ_SEARCH)."""
    import ctypes

    for capability in (1, 2):
        ctypes.CDLL(None).prctl(24, capability, 0, 0, 0)


@pytest.mark.skipif(sys.platform != "linux", reason="drops a Linux capability when run as root")
def test_a_read_only_home_shows_progress_and_keeps_it(drill: Drill):
    shown = drill("show", "kv-cache-size", "--seed", "5", "--json").json
    assert drill("answer", "kv-cache-size", right_answer(shown)).code == 0
    path = drill.home / "drill.db"
    before = path.read_bytes()
    path.chmod(0o444)
    drill.home.chmod(0o555)

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "drills", *arguments],
            capture_output=True,
            text=True,
            stdin=subprocess.DEVNULL,
            cwd=drill.work,
            env=drill.env,
            preexec_fn=_without_roots_privilege if os.geteuid() == 0 else None,
        )

    try:
        listed = run("list", "--json")
        assert listed.returncode == 0, listed.stderr
        assert '"status": "learned"' in listed.stdout
        graded = run("answer", "kv-cache-size", "1", "--seed", "5")
        assert graded.returncode == 1
        assert "Nothing is being remembered" in graded.stderr
        skipped = run("skip", "kv-cache-size")
        assert skipped.returncode == 4
        assert "read-only" in skipped.stderr
        shown = run("show", "kv-cache-size")  # the seed is not remembered, so it is told
        assert "drill answer kv-cache-size --seed" in shown.stdout.rstrip().splitlines()[-1]
        for place in (path, drill.home):
            place.chmod(0)
            listed = run("list")
            assert listed.returncode == 0, listed.stderr
            assert "cannot be read" in listed.stderr
    finally:
        drill.home.chmod(0o755)
        path.chmod(0o644)
    assert path.read_bytes() == before


def test_an_import_that_is_none_changes_nothing(drill: Drill):
    (drill.work / "x.json").write_text("{}")
    one_sentence(drill("import", "x.json"), 2, "not an export")
    one_sentence(drill("import", "none.json"), 2, "no file")
    one_sentence(drill("import", "."), 2, "folder")
    one_sentence(drill("export", "no/such/folder.json"), 4, "cannot be written")


def test_a_reader_that_goes_away_is_no_fault(drill: Drill):
    command = f"{sys.executable} -m drills list | head -1; exit ${{PIPESTATUS[0]}}"
    done = subprocess.run(
        ["bash", "-c", command], capture_output=True, text=True, env=drill.env, cwd=drill.work
    )
    assert done.stderr == ""
    assert done.returncode in (0, 141)


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_a_closed_stream_is_no_fault_and_never_the_database(drill: Drill, closed: str):
    command = f"{sys.executable} -m drills answer choice-kv-heads a {closed}"
    done = subprocess.run(
        ["bash", "-c", command], capture_output=True, text=True, env=drill.env, cwd=drill.work
    )
    assert (done.returncode, done.stderr) == (1, "")
    store = Store(drill.home, print)
    assert (store.check(), len(store.attempts())) == ("ok", 1)


def test_signs_keep_their_meaning_where_the_terminal_lacks_them(drill: Drill):
    plain = {"PYTHONIOENCODING": "ascii"}
    ran = drill("answer", "choice-kv-heads", "a", **plain)
    assert " x a) " in ran.out
    assert " + c) " in ran.out
    assert "?" not in ran.out.partition("a)")[0]
    assert "....." in drill("stats", **plain).out


def test_ctrl_c_ends_quietly_with_130(drill: Drill):
    import signal
    import time

    process = subprocess.Popen(
        [sys.executable, "-m", "drills", "answer", "derive-sqrt-dk"],
        stdin=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=drill.env,
        cwd=drill.work,
    )
    time.sleep(1.0)  # it waits for standard input by now
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=20)
    assert process.returncode == 130
    assert b"Traceback" not in err


def test_a_fault_of_ours_is_said_to_be_ours(drill: Drill, tmp_path: Path):
    broken = tmp_path / "path"
    broken.mkdir()
    (broken / "sitecustomize.py").write_text("import sys\nsys.modules['drills.progress'] = 3\n")
    env = {"PYTHONPATH": f"{broken}:{ROOT}"}
    ran = drill("stats", **env)
    assert ran.code == 3
    assert "not yours" in ran.err
    assert "Traceback" not in ran.err
    assert "Traceback" in drill("stats", **env, DRILL_DEBUG="1").err
