"""A learner's history of some weeks, for pages and screens that show one."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

from facts import attempt, event, report, review

from drills import clock
from drills.store import Store

NASTY = '<script>alert(1)</script> \x1b[31m & "so" \u202eon'
SCORES = {"correctness": 4, "systems": 2.5, "derivation": 5, "debugging": 3, "pace": 3}


def fill(home: Path) -> None:
    """Attempts right and wrong, reviews, mistakes with an awkward title, interviews, a lab."""
    store = Store(home, print)
    now = clock.now() - timedelta(minutes=5)
    mistakes = [
        {"id": "scale", "title": "attention without the scale", "explanation": ""},
        {"id": "nasty", "title": NASTY, "explanation": ""},
    ]
    for week in range(6):
        for number, question in enumerate(("attention", "kv-cache-size", "causal-mask")):
            at = now - timedelta(days=7 * (5 - week) + number)
            failed = attempt("wrong_answer", at, question)._replace(seconds=120.0)
            named = mistakes if week < 2 else mistakes[1:]
            store.record_event(event("served", at - timedelta(minutes=2), question))
            store.record_attempt({**report(question), "mistakes": named}, "", failed, None)
            at += timedelta(minutes=4)
            passed = attempt("passed", at, question)._replace(seconds=360.0)
            rated = review(1 if week == 3 else 3, at, question)
            store.record_attempt(report(question), "", passed, rated)
    for number in range(3):
        at = now - timedelta(days=9 - 3 * number)
        told = f"lean hire; worry: bandwidth {NASTY if number == 2 else ''}"
        detail = {"role": "inference", "minutes": 45, "seconds": 2590.0, "scores": SCORES}
        done = event("debriefed", at, f"mock/{number}", **detail, conclusion=told)
        store.record_event(done)
    store.record_event(event("debriefed", now, "mock/later", role="of a later drill"))
    store.record_event(event("measured", now, "lab/quadratic", run="x"))
    store.close()
