"""What the database holds, as named tuples: dataclasses would cost 2 ms of each start."""

from __future__ import annotations

import os
from datetime import datetime
from typing import NamedTuple


def new_uuid() -> str:
    """A random UUID (version 4). The module `uuid` would cost 2 ms of each start."""
    number = int.from_bytes(os.urandom(16), "big")
    number = number & ~(0xF << 76 | 0x3 << 62) | 0x4 << 76 | 0x2 << 62
    digits = f"{number:032x}"
    return "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]))


class Attempt(NamedTuple):
    """One finished grade. `seconds` is the time since the problem was served, where known."""

    uuid: str
    question: str
    verdict: str
    score: float
    seed: int | None
    at: datetime
    seconds: float | None
    hints_seen: int


class Review(NamedTuple):
    """One sitting's outcome: `rating` is FSRS's 1 Again, 2 Hard, 3 Good, 4 Easy."""

    uuid: str
    question: str
    at: datetime
    rating: int
    reason: str


class Event(NamedTuple):
    """`name` is served, shown, started, hint, solution, skipped or reset; of a lab, whose
    `question` is lab/NAME, measured or answered; of the plan, whose `question` is plan, planned or
    cleared."""

    uuid: str
    question: str
    name: str
    at: datetime
    seed: int | None
    detail: dict[str, object]


class Card(NamedTuple):
    """When a question is due, from its reviews since the last reset. `stability` is FSRS's: the
    days after which it is recalled with probability 0.9."""

    question: str
    due: datetime
    last_review: datetime
    reviews: int
    lapses: int
    stability: float


class StandingFacts(NamedTuple):
    """`tried`, by question: how many attempts, whether one passed, and the last one's moment.
    `attempts` and `events` are those since the question's last review, skip or reset, with its
    skips and resets; `reviews` holds the last one of each question."""

    tried: dict[str, tuple[int, bool, datetime]]
    attempts: list[Attempt]
    reviews: list[Review]
    events: list[Event]
