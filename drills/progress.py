"""Progress, counted."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from datetime import date, timedelta
from typing import Any

from drills import choose, clock
from drills.app import App

_MISTAKES_SHOWN = 5


@dataclass(frozen=True)
class Topic:
    topic: str
    questions: int
    tried: int
    passed: int
    due: int
    unfinished: int


@dataclass(frozen=True)
class Progress:
    """`streak` is days in a row up to today or yesterday, in local time."""

    topics: tuple[Topic, ...]
    attempts: int
    passes: int
    days: int
    streak: int
    mistakes: tuple[tuple[str, int], ...]
    next_due: tuple[str, str] | None  # question, when in words


def measure(app: App) -> Progress:
    found = choose.standings(app)
    questions = app.index.questions
    topics = []
    for topic in dict.fromkeys(str(questions[i]["topic"]) for i in found):
        mine = [s for i, s in found.items() if questions[i]["topic"] == topic]
        topics.append(
            Topic(
                topic=topic,
                questions=len(mine),
                tried=sum(s.attempts > 0 for s in mine),
                passed=sum(s.passed for s in mine),
                due=sum(s.status == "due" for s in mine),
                unfinished=sum(s.status == "unfinished" for s in mine),
            )
        )
    attempts = app.store.attempts()
    days = sorted({attempt.at.astimezone().date() for attempt in attempts})
    now = clock.now()
    planted = [
        (question_id, bug["mistake"])
        for question_id, question in questions.items()
        for bug in question.get("bugs", ())
    ]
    dues = sorted((s.due, i) for i, s in found.items() if s.due is not None)
    return Progress(
        topics=tuple(topics),
        attempts=len(attempts),
        passes=sum(attempt.verdict == "passed" for attempt in attempts),
        days=len(days),
        streak=_streak(days, now.astimezone().date()),
        mistakes=tuple(app.store.commonest_mistakes(_MISTAKES_SHOWN, planted)),
        next_due=(dues[0][1], clock.when(dues[0][0], now)) if dues else None,
    )


def _streak(days: list[date], today: date) -> int:
    kept = set(days)
    day = today if today in kept else today - timedelta(days=1)
    length = 0
    while day in kept:
        length += 1
        day -= timedelta(days=1)
    return length


def as_json(progress: Progress) -> dict[str, Any]:
    data = asdict(progress)
    data["mistakes"] = [{"title": title, "times": times} for title, times in progress.mistakes]
    data["next_due"] = (
        {"question": progress.next_due[0], "when": progress.next_due[1]}
        if progress.next_due
        else None
    )
    return {"format": 1, **data}
