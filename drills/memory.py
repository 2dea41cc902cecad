"""What FSRS expects of one question's memory, by days: today is 0, yesterday -1."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from drills import schedule

if TYPE_CHECKING:
    from fsrs import Card, Scheduler

_EPOCH = datetime(2000, 1, 1, tzinfo=timezone.utc)  # only differences count


class Memory(NamedTuple):
    """`stability`: days after which recall has fallen to 0.9; `day`: of the last review; `due`: the
    day on which FSRS brings the question back, by itself."""

    stability: float
    difficulty: float
    day: int
    due: int


def recall(memory: Memory, day: int) -> float:
    """The predicted probability of a pass on `day`, if nothing happens before."""
    return schedule.recall(memory.stability, max(0, day - memory.day))


def passed(memory: Memory | None, day: int) -> Memory:
    """The memory after a sitting on `day` that is rated Good; the first one where it is None."""
    if memory is None:
        stability, difficulty, interval = _first()
    else:
        elapsed = max(0, day - memory.day)
        stability, difficulty, interval = _next(memory.stability, memory.difficulty, elapsed)
    return Memory(stability, difficulty, day, day + interval)


@lru_cache(maxsize=1)
def _scheduler() -> Scheduler:
    return schedule.scheduler()


def _card(stability: float, difficulty: float) -> Card:
    from fsrs import Card, State

    state = State.Review
    card = Card(card_id=1, state=state, stability=stability, difficulty=difficulty, due=_EPOCH)
    card.last_review = _EPOCH
    return card


@lru_cache(maxsize=1 << 14)
def _next(stability: float, difficulty: float, elapsed: int) -> tuple[float, float, int]:
    return _good(_card(stability, difficulty), _EPOCH + timedelta(days=elapsed))


@lru_cache(maxsize=1)
def _first() -> tuple[float, float, int]:
    from fsrs import Card

    return _good(Card(card_id=1, due=_EPOCH), _EPOCH)


def _good(card: Card, at: datetime) -> tuple[float, float, int]:
    from fsrs import Rating

    card, _ = _scheduler().review_card(card, Rating.Good, at)
    assert card.stability is not None
    assert card.difficulty is not None
    return card.stability, card.difficulty, (card.due - at).days
