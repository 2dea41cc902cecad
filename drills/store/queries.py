"""The SQL of the store's questions, and its rows as named tuples."""

from __future__ import annotations

import json
import sqlite3
from typing import Protocol

from drills import clock
from drills.store.rows import Attempt, Event, Review, StandingFacts


class Read(Protocol):
    """`Store.read`."""

    def __call__(self, sql: str, **values: str | float) -> list[sqlite3.Row]: ...


ATTEMPT = "uuid, question, verdict, score, seed, at, seconds, hints_seen"
REVIEW = "uuid, question, at, rating, reason"
EVENT = "uuid, question, name, at, seed, detail"

# Reviews before the last reset belong to a schedule that was given up.
LIVE_REVIEWS = (
    f"SELECT {REVIEW} FROM reviews "
    "WHERE question = :question AND at <= :believed AND at > coalesce((SELECT max(at) FROM events "
    "WHERE question = :question AND at <= :believed AND name = 'reset'), '') ORDER BY at, uuid"
)
LIVE_QUESTIONS = (
    "SELECT question, last FROM (SELECT question, max(at) AS last FROM reviews "
    "WHERE at <= :believed GROUP BY question) AS reviewed "
    "WHERE last > coalesce((SELECT max(at) FROM events "
    "WHERE question = reviewed.question AND at <= :believed AND name = 'reset'), '')"
)
# `since` is where a question's sitting begins at the earliest: see drills/sitting.py. The join
# begins with the questions, so that of each only what came later is looked at.
BOUNDED = (
    "(SELECT question, max(at) AS since FROM ("
    "SELECT question, at FROM reviews WHERE at <= :believed UNION ALL "
    "SELECT question, at FROM events WHERE name IN ('reset', 'skipped') AND at <= :believed "
    "UNION ALL SELECT DISTINCT question, '' FROM {0}) GROUP BY question) "
    "CROSS JOIN {0} USING (question) WHERE at > since AND at <= :believed"
)


def attempt(row: sqlite3.Row) -> Attempt:
    return Attempt(row[0], row[1], row[2], row[3], row[4], clock.from_text(row[5]), row[6], row[7])


def review(row: sqlite3.Row) -> Review:
    return Review(row[0], row[1], clock.from_text(row[2]), row[3], row[4])


def event(row: sqlite3.Row) -> Event:
    return Event(row[0], row[1], row[2], clock.from_text(row[3]), row[4], json.loads(row[5]))


def standing_facts(read: Read) -> StandingFacts:
    tried = read(
        "SELECT question, count(*), max(verdict = 'passed'), max(at) FROM attempts "
        "WHERE at <= :believed GROUP BY question"
    )
    attempts = read(f"SELECT {ATTEMPT} FROM {BOUNDED.format('attempts')} ORDER BY at, uuid")
    events = read(
        f"SELECT {EVENT} FROM {BOUNDED.format('events')} UNION SELECT {EVENT} FROM events "
        "WHERE name IN ('reset', 'skipped') AND at <= :believed ORDER BY at, uuid"
    )
    # A moment has a fixed width: the greatest of these is the last in order of time.
    reviews = read(
        f"SELECT {REVIEW}, max(at || uuid) FROM reviews WHERE at <= :believed GROUP BY question"
    )
    return StandingFacts(
        {row[0]: (row[1], bool(row[2]), clock.from_text(row[3])) for row in tried},
        [attempt(row) for row in attempts],
        [review(row) for row in reviews],
        [event(row) for row in events],
    )
