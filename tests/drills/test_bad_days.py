"""What the machine can do to progress: a full disk, a clock that jumps, two commands at once."""

from __future__ import annotations

import json
import resource
import shutil
import sqlite3
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta, timezone
from pathlib import Path

import pytest
from conftest import ROOT, Drill
from facts import attempt, event, report, review

from drills import clock
from drills.schedule import GOOD
from drills.store import Store
from drills.store.database import NAME

ANSWER = ("answer", "kv-cache-size", "--seed", "5")
SMALL = "262144"  # bytes of a whole file system
FULL = f"""
import os, subprocess, sys
def drill(*words):
    done = subprocess.run([sys.executable, "-m", "drills", *words], input="", text=True,
                          capture_output=True)
    print(done.returncode, done.stderr.strip(), done.stdout.strip().splitlines()[:1], sep="|")
drill(*{ANSWER}, "1")
with open(os.environ["DRILL_HOME"] + "/filling", "wb", 0) as file:
    try:
        while True:
            file.write(bytes(1024))
    except OSError:
        pass
drill(*{ANSWER}, "2")
drill("list")
drill("skip", "rope")
os.unlink(file.name)
drill(*{ANSWER}, "3")
drill("stats", "--json")
drill("doctor", "--quick", "--json")
words = [sys.executable, "-m", "drills", "export"]
print(subprocess.run(words, capture_output=True, text=True).stdout.replace("\\n", " "))
"""


def can_mount() -> bool:
    if shutil.which("bwrap") is None:
        return False
    words = ["bwrap", "--dev-bind", "/", "/", "--size", SMALL, "--tmpfs", "/mnt", "true"]
    return subprocess.run(words, capture_output=True).returncode == 0


@pytest.mark.skipif(not can_mount(), reason="needs bubblewrap to make a small file system")
def test_a_full_disk_stops_remembering_and_nothing_else(drill: Drill):
    drill.home.mkdir(exist_ok=True)
    home = str(drill.home)
    words = ["bwrap", "--dev-bind", "/", "/", "--size", SMALL, "--tmpfs", home]
    done = subprocess.run(
        [*words, sys.executable, "-c", FULL],
        env={**drill.env, "PYTHONPATH": str(ROOT)},
        cwd=drill.work,
        capture_output=True,
        text=True,
        check=True,
    )
    said = [line.split("|") for line in done.stdout.splitlines() if line[0].isdigit()]
    before, judged, listed, skipped, after, *kept = said
    assert before[:2] == ["1", ""]
    full = f"the disk that holds {drill.home / NAME} is full"
    assert judged[:2] == ["1", f"Nothing is being remembered: {full}."]
    assert listed[:2] == ["0", ""]
    assert skipped[0] == "4"
    assert f"but {full}: " in skipped[1]
    assert after[:2] == ["1", ""]
    assert [one[0] for one in kept] == ["0", "0"]
    exported = json.loads(done.stdout.splitlines()[-1])
    assert [row["source"] for row in exported["attempts"]] == ["1", "3"]


def test_a_database_that_may_not_grow_costs_the_record_and_not_the_verdict(drill: Drill):
    assert drill(*ANSWER, "1").code == 1
    assert drill.home.joinpath(NAME).stat().st_size > 8192

    def no_room() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (8192, 8192))

    done = subprocess.run(
        [sys.executable, "-m", "drills", *ANSWER, "2"],
        env=drill.env,
        cwd=drill.work,
        capture_output=True,
        text=True,
        preexec_fn=no_room,
    )
    assert done.returncode == 1
    assert "wrong answer" in done.stdout
    assert done.stderr.startswith("Nothing is being remembered: ")
    assert drill(*ANSWER, "3").err == ""
    assert [row["source"] for row in Store(drill.home, print).facts()["attempts"]] == ["1", "3"]


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "home", print)


def learned(store: Store, moment: datetime, question: str = "rope") -> None:
    store.record_event(event("served", moment - timedelta(minutes=9), question))
    passed = attempt("passed", moment, question)
    store.record_attempt(report(question), "x = 1", passed, review(GOOD, moment, question))


def test_what_a_clock_dated_years_ahead_puts_nothing_off(store: Store):
    now = clock.now()
    learned(store, now - timedelta(days=3))
    due = store.cards()["rope"].due
    ahead = now + timedelta(days=1500)
    learned(store, ahead)
    learned(store, ahead, "gqa")
    store.record_event(event("skipped", ahead))
    store.record_event(event("reset", ahead, "mqa"))
    learned(store, now, "mqa")
    assert store.cards().keys() == {"rope", "mqa"}
    assert store.cards()["rope"].due == due
    assert len(store.attempts()) == 2
    assert store.from_the_future() == 8
    assert len(store.facts()["attempts"]) == 4  # kept, and exported


def test_cards_made_while_the_clock_was_ahead_are_made_anew(
    store: Store, monkeypatch: pytest.MonkeyPatch
):
    now = clock.now()
    learned(store, now - timedelta(days=3))
    due = store.cards()["rope"].due
    ahead = now + timedelta(days=1500)
    with monkeypatch.context() as wrong:
        wrong.setattr(clock, "now", lambda: ahead)
        learned(store, ahead)
        assert store.cards()["rope"].due > ahead
    assert store.cards()["rope"].due == due


def test_what_was_dated_ahead_counts_once_its_time_has_come(
    store: Store, monkeypatch: pytest.MonkeyPatch
):
    now = clock.now()
    learned(store, now - timedelta(days=3))
    learned(store, now + timedelta(days=5))
    assert store.cards()["rope"].reviews == 1
    monkeypatch.setattr(clock, "now", lambda: now + timedelta(days=6))
    assert store.cards()["rope"].reviews == 2


def test_a_dead_clock_battery_leaves_the_schedule_in_order(store: Store):
    now = clock.now()
    learned(store, now - timedelta(days=3))
    due = store.cards()["rope"].due
    learned(store, datetime(1970, 1, 2, tzinfo=timezone.utc))
    assert store.cards()["rope"].reviews == 2
    assert store.cards()["rope"].due >= due


def test_a_clock_set_back_within_a_sitting_makes_no_pass_quick(drill: Drill):
    shown = drill("show", "kv-cache-size", "--seed", "5", "--json")
    assert shown.code == 0
    with sqlite3.connect(drill.home / NAME) as connection:
        served = event("served", clock.now() + timedelta(hours=2), "kv-cache-size")
        row = (served.uuid, served.question, served.name, clock.to_text(served.at), 5, "{}")
        connection.execute("INSERT INTO events VALUES (?, ?, ?, ?, ?, ?)", row)
    connection.close()
    assert drill(*ANSWER, "1").code == 1
    (kept,) = Store(drill.home, print).attempts()
    assert kept.seconds is None or kept.seconds >= 0


def test_doctor_and_stats_say_what_they_leave_out(drill: Drill):
    store = Store(drill.home, print)
    learned(store, clock.now() + timedelta(days=30))
    store.close()
    assert "lie in the future: 3 of your entries." in drill("stats").err
    assert drill("doctor", "--quick", "--json").json["database"]["from_the_future"] == 3
    assert "entries dated in the future" in " ".join(drill("doctor", "--quick").out.split())


def test_commands_at_once_on_one_home_and_one_file_all_count(drill: Drill):
    right = next((ROOT / "tests/honest/causal-mask").glob("*.py")).read_text()
    (drill.work / "causal_mask.py").write_text(right)
    commands = [("grade", "causal-mask", "causal_mask.py", "--json")] * 3
    commands += [(*ANSWER, str(n), "--json") for n in range(5)]
    with ThreadPoolExecutor(len(commands)) as pool:
        ran = list(pool.map(lambda words: drill(*words), commands))
    assert [one.err for one in ran] == [""] * len(commands)
    assert [one.json["verdict"] for one in ran[:3]] == ["passed"] * 3
    facts = Store(drill.home, print).facts()
    assert len(facts["attempts"]) == len(commands)
    assert sum(row["question"] == "causal-mask" for row in facts["reviews"]) == 1


def test_every_limit_and_duration_is_measured_by_a_clock_that_nobody_sets() -> None:
    for folder in ("grader", "drills"):
        for path in (ROOT / folder).rglob("*.py"):
            text = path.read_text()
            for word in ("time.time()", "datetime.now", "utcnow", "CLOCK_REALTIME"):
                assert word not in text or path.name == "clock.py", (path, word)
