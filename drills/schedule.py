"""When a question comes back: FSRS over one review a sitting.

The ratings: Again when the learner gave up or saw the solution, Hard after hints or three
failures, Easy well under par at the first try, else Good. There are no learning steps of minutes:
a sitting on one problem is a day's work on it, and the shortest interval is a day.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

from drills.store.rows import Card, Review

if TYPE_CHECKING:
    from fsrs import Scheduler

AGAIN, HARD, GOOD, EASY = 1, 2, 3, 4
ONE_SITTING = timedelta(hours=12)  # what follows a review within this is practice, not a review
_FAILURES_FOR_HARD = 3
_EASY_SHARE_OF_PAR = 0.5
_MOST_POINTS = 0.75


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


def replay(question: str, reviews: Sequence[Review]) -> tuple[Card, str]:
    """The card that `reviews` (at least one, in order of time) lead to, and FSRS's own form of it.

    The same reviews give the same card on every machine: fuzz is off, and times are UTC.
    """
    from fsrs import Card as FsrsCard
    from fsrs import Rating

    fsrs = scheduler()
    card = FsrsCard(card_id=1, due=reviews[0].at)
    for review in reviews:
        card, _ = fsrs.review_card(card, Rating(review.rating), review.at)
    lapses = sum(review.rating == AGAIN for review in reviews)
    row = Card(question, card.due, reviews[-1].at, len(reviews), lapses)
    return row, json.dumps(card.to_dict(), sort_keys=True)
