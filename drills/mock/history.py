"""Mock interviews in the database: each is a series of events, whose `question` is mock/ID."""

from __future__ import annotations

from datetime import datetime
from typing import Any, NamedTuple

from drills.app import App
from drills.store import Event

PREFIX = "mock/"  # no question of a bank is called so: ids have no slash
DEBRIEFED = "debriefed"
_DETAIL: dict[str, type | tuple[type, ...]] = {
    "role": str,
    "minutes": int,
    "seconds": (int, float),
    "scores": dict,
    "conclusion": str,
}


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
    """In order of time; without what cannot be read, of an import or of a later drill."""
    return [
        _interview(event)
        for event in app.store.events_named(DEBRIEFED)
        if event.question.startswith(PREFIX) and _readable(event.detail)
    ]


def _readable(detail: dict[str, Any]) -> bool:
    whole = all(isinstance(detail.get(key), kind) for key, kind in _DETAIL.items())
    return whole and all(isinstance(score, (int, float)) for score in detail["scores"].values())


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
