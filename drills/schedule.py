"""When a question comes back: FSRS over one review a sitting.

The ratings: Again when the learner gave up or saw the solution, Hard after hints or three
failures, Easy well under par at the first try, else Good. There are no learning steps of minutes:
a sitting on one problem is a day's work on it, and the shortest interval is a day.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from drills.store.rows import Card, Review

if TYPE_CHECKING:
    from fsrs import Card as FsrsCard
    from fsrs import Scheduler

AGAIN, HARD, GOOD, EASY = 1, 2, 3, 4
ONE_SITTING = timedelta(hours=12)  # what follows a review within this is practice, not a review
_FAILURES_FOR_HARD = 3
_EASY_SHARE_OF_PAR = 0.5
_MOST_POINTS = 0.75
_DECAY = -0.1542  # of FSRS's forgetting curve, by its default parameters


@dataclass(frozen=True)
class Rated:
    rating: int
    reason: str


def rate_pass(failures: int, hints: int, seconds: float | None, par_minutes: int) -> Rated:
    """The rating of a sitting that ended in a pass. `seconds` is None where not known."""
    if hints:
        return Rated(HARD, "passed with hints")
    if failures >= _FAILURES_FOR_HARD:
        return Rated(HARD, f"passed after {failures} failures")
    if not failures and seconds is not None and seconds < par_minutes * 60 * _EASY_SHARE_OF_PAR:
        return Rated(EASY, "passed at the first try, well under par")
    return Rated(GOOD, "passed")


def rate_told(kind: str, score: float) -> Rated:
    """The rating of an answer that fell short where the report then told all: nothing is left to
    find out in this sitting. `score` is in [0, 1]."""
    return MOSTLY_RIGHT if kind == "explain" and score >= _MOST_POINTS else ANSWERED_WRONG


GAVE_UP = Rated(AGAIN, "gave up")
ANSWERED_WRONG = Rated(AGAIN, "not answered in full")  # where the report told the answer
MOSTLY_RIGHT = Rated(HARD, "most points made")
SAW_SOLUTION = Rated(AGAIN, "saw the solution")


def scheduler() -> Scheduler:
    from fsrs import Scheduler

    return Scheduler(learning_steps=(), relearning_steps=(), enable_fuzzing=False)


def recall(stability: float, days: int) -> float:
    """The predicted probability of recalling, so many whole days after the last review: what FSRS
    calls retrievability. Written out here, since importing fsrs costs 20 ms."""
    factor = 0.9 ** (1 / _DECAY) - 1
    return float((1 + factor * days / stability) ** _DECAY)


def recall_at(stability: float, last_review: datetime, now: datetime) -> float:
    """`recall` at `now`."""
    return recall(stability, max(0, (now - last_review).days))


def replay(question: str, reviews: Sequence[Review]) -> tuple[Card, str]:
    """The card that `reviews` (at least one, in order of time) lead to, and FSRS's own form of it.

    The same reviews give the same card on every machine: fuzz is off, and times are UTC.
    """
    *_, card = _cards(reviews)
    lapses = sum(review.rating == AGAIN for review in reviews)
    stability = card.stability or 0.0  # never None after a review
    row = Card(question, card.due, reviews[-1].at, len(reviews), lapses, stability)
    return row, json.dumps(card.to_dict(), sort_keys=True)


def stabilities(reviews: Sequence[Review]) -> list[float]:
    """FSRS's stability (days) after each of `reviews`, in order of time."""
    return [card.stability or 0.0 for card in _cards(reviews)]


def _cards(reviews: Sequence[Review]) -> Iterator[FsrsCard]:
    from fsrs import Card as FsrsCard
    from fsrs import Rating

    fsrs = scheduler()
    card = FsrsCard(card_id=1, due=reviews[0].at)
    for review in reviews:
        card, _ = fsrs.review_card(card, Rating(review.rating), review.at)
        yield card
