"""Mock interviews in the database: each is a series of events, whose `question` is mock/ID."""

from __future__ import annotations

from datetime import datetime
from typing import Any, NamedTuple

from drills.app import App
from drills.store import Event

PREFIX = "mock/"  # no question of a bank is called so: ids have no slash
DEBRIEFED = "debriefed"


class Interview(NamedTuple):
    """A finished interview. `scores` are by competency, from 0 to 5; `conclusion` is what a loop
    would say, e.g. "lean hire"; `minutes` were planned, `seconds` used."""

    id: str
    at: datetime
    role: str
    minutes: int
    seconds: float
    scores: dict[str, float]
    conclusion: str


def finished(app: App) -> list[Interview]:
    """In order of time."""
    return [
        _interview(event)
        for event in app.store.events_named(DEBRIEFED)
        if event.question.startswith(PREFIX)
    ]


def _interview(event: Event) -> Interview:
    detail: dict[str, Any] = event.detail
    return Interview(
        id=event.question.removeprefix(PREFIX),
        at=event.at,
        role=detail["role"],
        minutes=detail["minutes"],
        seconds=detail["seconds"],
        scores=detail["scores"],
        conclusion=detail["conclusion"],
    )
