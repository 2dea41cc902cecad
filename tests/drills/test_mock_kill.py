"""An interview killed at any instant goes on with every finished answer."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import candidates
from conftest import Drill

from drills.store import Store
from questions import index

KILLS = 50


def test_an_interview_killed_at_50_random_instants_keeps_every_answer_it_took_note_of(drill: Drill):
    answers = {
        i: candidates.right(q, 1)
        for i, q in index.load().questions.items()
        if q["kind"] in ("explain", "derive", "choice", "trace")
    }
    (drill.work / "answers.json").write_text(json.dumps(answers))
    script = Path(__file__).with_name("mock_kills.py")
    done = subprocess.run(
        [sys.executable, str(script), str(KILLS), "answers.json"],
        capture_output=True, cwd=drill.work, env=drill.env, timeout=110, check=True,
    )  # fmt: skip
    runs = json.loads(done.stdout)
    assert sum(run["killed"] for run in runs) == KILLS
    noted = sum(run["said"].count(" Noted: ") for run in runs)
    assert noted > KILLS / 4, "the kills came before anything was answered"

    store = Store(drill.home, print)
    assert store.check() == "ok"
    events: dict[str, list] = {}
    for event in store.events():
        if event.question.startswith("mock/"):
            events.setdefault(event.question, []).append(event)
    attempts = {attempt.uuid for attempt in store.attempts()}
    whole = 0
    for told in events.values():
        asked = [e for e in told if e.name == "asked"]
        tried = [e for e in told if e.name == "tried"]
        closed = [e.detail["number"] for e in told if e.name == "closed"]
        assert len({e.detail["asked"] for e in asked}) == len(asked), "a question was asked twice"
        assert len(closed) == len(set(closed)), "an item was closed twice"
        assert {e.detail["attempt"] for e in tried} <= attempts
        numbers = [e.detail["number"] for e in tried]
        assert len(numbers) == len(set(numbers)), "an answer had to be given again"
        used = [e.detail["used"] for e in told if "used" in e.detail]
        assert used == sorted(used), "the clock went back"
        whole += any(e.name == "debriefed" for e in told)
    assert whole > 1  # several interviews came through their kills to the end
    assert len(attempts) == sum(e.name == "tried" for told in events.values() for e in told)
    assert noted <= len(attempts)
