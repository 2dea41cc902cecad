"""Progress counted by SQLite: a long history is never built in Python to be counted."""

from __future__ import annotations

import json
from collections.abc import Collection
from typing import NamedTuple

from drills.store.store import Store

LONGEST = 3600  # seconds of one attempt that count: who takes longer has walked away


class Day(NamedTuple):
    date: str  # as 2026-11-29, in local time
    attempts: int
    passes: int


class Mistake(NamedTuple):
    title: str
    times: int


def days(store: Store) -> list[Day]:
    """The days with an attempt, in order."""
    rows = store.read(
        "SELECT date(at, 'localtime') AS day, count(*), sum(verdict = 'passed') FROM attempts "
        "WHERE at <= :believed GROUP BY day ORDER BY day"
    )
    return [Day(*row) for row in rows]


def seconds(store: Store) -> float:
    """Time spent. An attempt counts from when its problem was served, or from the attempt before
    it, whichever is later, and as an hour at most."""
    rows = store.read(
        "SELECT total(min(seconds, :longest, coalesce(86400 * (day - before), seconds))) FROM ("
        "SELECT seconds, julianday(at) AS day, lag(julianday(at)) "
        "OVER (PARTITION BY question ORDER BY at, uuid) AS before "
        "FROM attempts WHERE at <= :believed) WHERE seconds IS NOT NULL",
        longest=LONGEST,
    )
    return float(rows[0][0])


def recalled(store: Store) -> dict[str, tuple[int, int]]:
    """By question: how many reviews there were after its first, and how many were not Again."""
    # The rating that stands beside min() is the first review's.
    rows = store.read(
        "SELECT question, count(*) - 1, sum(rating > 1), rating > 1, min(at || uuid) "
        "FROM reviews WHERE at <= :believed GROUP BY question"
    )
    return {row[0]: (row[1], row[2] - row[3]) for row in rows}


# Titles of steps make sense only beside their question. `planted` is in the code as given.
_TITLED = (
    "SELECT title || iif(kind IN ('derive', 'trace'), ' (' || question || ')', '') AS titled, "
    "question, at FROM mistakes WHERE title IS NOT NULL AND at <= :believed "
    "AND question || '/' || id NOT IN (SELECT value FROM json_each(:planted))"
)


def mistakes(store: Store, count: int, planted: Collection[tuple[str, str]]) -> list[Mistake]:
    """What reports named most often, but for what is not the learner's: `planted` are questions
    with the mistakes in the code that they give."""
    rows = store.read(
        f"SELECT titled, count(*) AS times FROM ({_TITLED}) "
        f"GROUP BY titled ORDER BY times DESC, titled LIMIT {count:d}",
        planted=_pairs(planted),
    )
    return [Mistake(*row) for row in rows]


class Occasion(NamedTuple):
    title: str
    question: str
    at: str  # in UTC, as clock.to_text writes it


def occasions(store: Store, planted: Collection[tuple[str, str]]) -> list[Occasion]:
    """Each time that a mistake was made, in order; `planted` as for `mistakes`."""
    rows = store.read(f"{_TITLED} ORDER BY at, attempt, place", planted=_pairs(planted))
    return [Occasion(*row) for row in rows]


def _pairs(planted: Collection[tuple[str, str]]) -> str:
    return json.dumps([f"{question}/{mistake}" for question, mistake in planted])
