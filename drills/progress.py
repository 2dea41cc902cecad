"""Progress, counted."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import date, datetime, timedelta
from typing import Any

from drills import choose, clock, schedule
from drills.app import App
from drills.choose import Standing
from drills.lab_record import MEASURED
from drills.mock import history
from drills.store import Card, counts
from drills.store.counts import Mistake

SOON = timedelta(days=7)
_MISTAKES = 5


@dataclass(frozen=True)
class Group:
    """The questions of one topic, or of one kind. `recall` is the mean over those that have a
    review of the probability, as FSRS predicts it, that they are recalled now; None without any.
    `kept` of their `reviews` after the first were not Again."""

    name: str
    questions: int
    tried: int
    passed: int
    due: int
    unfinished: int
    recall: float | None
    reviews: int
    kept: int


@dataclass(frozen=True)
class Interviews:
    finished: int
    role: str  # of the last one
    at: datetime
    conclusion: str


@dataclass(frozen=True)
class Progress:
    """`streak` is days in a row up to today or yesterday, in local time; `due_soon` comes within
    `SOON`, after what is due now. `learned` questions have a review, and `recall`, `reviews` and
    `kept` are theirs, as in `Group`. `seconds` are counted as in `counts.seconds`."""

    topics: tuple[Group, ...]
    kinds: tuple[Group, ...]
    attempts: int
    passes: int
    seconds: float
    days: int
    streak: int
    due_now: int
    due_soon: int
    learned: int
    recall: float | None
    reviews: int
    kept: int
    mistakes: tuple[Mistake, ...]
    labs: int
    interviews: Interviews | None
    next_due: tuple[str, str] | None  # question, when in words


def measure(app: App) -> Progress:
    found = choose.standings(app)
    now = clock.now()
    cards = {i: card for i, card in app.store.cards().items() if i in found}
    recall = predicted(cards, now)
    kept = counts.recalled(app.store)
    days = counts.days(app.store)
    dues = sorted((s.due, i) for i, s in found.items() if s.due is not None)
    due_now = sum(s.status == "due" for s in found.values())
    return Progress(
        topics=_groups(app, "topic", found, recall, kept),
        kinds=_groups(app, "kind", found, recall, kept),
        attempts=sum(day.attempts for day in days),
        passes=sum(day.passes for day in days),
        seconds=counts.seconds(app.store),
        days=len(days),
        streak=_streak([date.fromisoformat(day.date) for day in days], now.astimezone().date()),
        due_now=due_now,
        due_soon=sum(now < due <= now + SOON for due, _ in dues),
        learned=len(recall),
        recall=_mean(list(recall.values())),
        reviews=sum(reviews for reviews, _ in kept.values()),
        kept=sum(kept for _, kept in kept.values()),
        mistakes=tuple(counts.mistakes(app.store, _MISTAKES, planted(app))),
        labs=len({event.question for event in app.store.events_named(MEASURED)}),
        interviews=_interviews(app),
        next_due=(dues[0][1], clock.when(dues[0][0], now)) if dues else None,
    )


def predicted(cards: Mapping[str, Card], now: datetime) -> dict[str, float]:
    """The probability, as FSRS predicts it, that each card's question is recalled at `now`."""
    return {i: schedule.recall_at(c.stability, c.last_review, now) for i, c in cards.items()}


def planted(app: App) -> list[tuple[str, str]]:
    """The mistakes in the code that questions give, by question."""
    return [
        (question_id, bug["mistake"])
        for question_id, question in app.index.questions.items()
        for bug in question.get("bugs", ())
    ]


def _groups(
    app: App,
    by: str,
    found: dict[str, Standing],
    recall: dict[str, float],
    kept: dict[str, tuple[int, int]],
) -> tuple[Group, ...]:
    """The questions by topic or by kind, in teaching order."""
    groups: dict[str, list[str]] = {}
    for question_id in found:
        groups.setdefault(str(app.index.questions[question_id][by]), []).append(question_id)
    return tuple(
        Group(
            name=name,
            questions=len(mine),
            tried=sum(found[i].attempts > 0 for i in mine),
            passed=sum(found[i].passed for i in mine),
            due=sum(found[i].status == "due" for i in mine),
            unfinished=sum(found[i].status == "unfinished" for i in mine),
            recall=_mean([recall[i] for i in mine if i in recall]),
            reviews=sum(kept[i][0] for i in mine if i in kept),
            kept=sum(kept[i][1] for i in mine if i in kept),
        )
        for name, mine in groups.items()
    )


def _mean(values: list[float]) -> float | None:
    return sum(values) / len(values) if values else None


def _interviews(app: App) -> Interviews | None:
    finished = history.finished(app)
    if not finished:
        return None
    last = finished[-1]
    return Interviews(len(finished), last.role, last.at, last.conclusion)


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
    for key, by in (("topics", "topic"), ("kinds", "kind")):
        data[key] = [{by: group.pop("name"), **group} for group in data[key]]
    data["mistakes"] = [{"title": title, "times": times} for title, times in progress.mistakes]
    if progress.interviews:
        data["interviews"]["at"] = clock.to_text(progress.interviews.at)
    data["next_due"] = (
        {"question": progress.next_due[0], "when": progress.next_due[1]}
        if progress.next_due
        else None
    )
    return {"format": 1, **data}
