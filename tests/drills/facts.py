"""Short ways to make attempts, reviews and events for tests that need no process."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from typing import Any
from uuid import uuid4

from drills.store import Attempt, Event, Review

START = datetime(2026, 1, 5, 9, 0, tzinfo=timezone.utc)


def at(**span: float) -> datetime:
    """`at(hours=2)` is two hours after START."""
    return START + timedelta(**span)


def attempt(verdict: str, moment: datetime, question: str = "rope") -> Attempt:
    return Attempt(str(uuid4()), question, verdict, 0.0, 1, moment, None, 0)


def review(rating: int, moment: datetime, question: str = "rope") -> Review:
    return Review(str(uuid4()), question, moment, rating, "passed")


def event(name: str, moment: datetime, question: str = "rope", **detail: object) -> Event:
    return Event(str(uuid4()), question, name, moment, 7, detail)


def report(question: str = "rope", verdict: str = "passed", **more: Any) -> dict[str, Any]:
    from grader.report import Report

    made = Report(question=question, kind="code", verdict=verdict, score=1.0, seed=1, **more)
    return made.to_json()
