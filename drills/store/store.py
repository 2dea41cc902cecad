"""The one object the commands talk to. It opens on the first use."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any, TypeVar

from drills import clock, schedule
from drills.errors import UNUSABLE, DrillError
from drills.store.database import (
    NAME,
    Opened,
    in_memory,
    is_corrupt,
    open_database,
    set_aside,
    why_unwritable,
)
from drills.store.rows import Attempt, Card, Event, Review
from drills.store.schema import COLUMNS

T = TypeVar("T")


class Store:
    """Facts in, facts out. `say` is told, once, whatever the learner must know about the database.

    Every write is one transaction, committed (and synced) before the method returns.
    """

    def __init__(self, folder: Path, say: Callable[[str], None]) -> None:
        self.folder = folder
        self.path = folder / NAME
        self._say = say
        self._opened: Opened | None = None
        self._warned = False

    @property
    def recording(self) -> bool:
        """False where the home cannot be written: facts then last as long as the command."""
        return not self._open().unrecorded

    def require_recording(self, verb: str) -> None:
        """Raises DrillError (exit 4) where `verb` would be forgotten at once."""
        reason = self._open().unrecorded
        if reason:
            raise DrillError(
                f"drill {verb} needs to write, but {reason}: "
                "mend that, or point DRILL_HOME at a folder of yours.",
                UNUSABLE,
            )

    def close(self) -> None:
        if self._opened is not None:
            self._opened.connection.close()
            self._opened = None

    # writing ------------------------------------------------------------------------------

    def record_attempt(
        self,
        report: dict[str, Any],
        source: str,
        attempt: Attempt,
        review: Review | None,
        event: Event | None = None,
    ) -> None:
        """An attempt, the review that it brings about, and the event that tells of it: all, or
        nothing."""
        row = (
            attempt.uuid,
            attempt.question,
            report["revision"],
            report["kind"],
            attempt.seed,
            attempt.verdict,
            attempt.score,
            json.dumps(report, sort_keys=True),
            source,
            clock.to_text(attempt.at),
            attempt.seconds,
            attempt.hints_seen,
        )

        def write(connection: sqlite3.Connection) -> None:
            _insert(connection, "attempts", row)
            if review is not None:
                self._insert_review(connection, review, attempt.uuid)
            if event is not None:
                _insert(connection, "events", _event_row(event))

        self._write(write)

    def record_event(self, event: Event, review: Review | None = None) -> None:
        """An event, and the review that it brings about (a solution seen, a problem given up)."""

        def write(connection: sqlite3.Connection) -> None:
            _insert(connection, "events", _event_row(event))
            if review is not None:
                self._insert_review(connection, review, None)
            if event.name == "reset":
                self._rebuild_card(connection, event.question)

        self._write(write)

    def rebuild_cards(self) -> None:
        """Make the cache of cards anew from the reviews."""

        def write(connection: sqlite3.Connection) -> None:
            connection.execute("DELETE FROM cards")
            questions = connection.execute("SELECT DISTINCT question FROM reviews").fetchall()
            for (question,) in questions:
                self._rebuild_card(connection, question)

        self._write(write)

    def merge(self, facts: dict[str, list[tuple[Any, ...]]]) -> dict[str, int]:
        """Add the facts that are not here yet (by uuid); returns how many, by table."""
        added: dict[str, int] = {}

        def write(connection: sqlite3.Connection) -> None:
            for table, rows in facts.items():
                added[table] = sum(_insert(connection, table, row) for row in rows)
            connection.execute("DELETE FROM cards")
            questions = connection.execute("SELECT DISTINCT question FROM reviews").fetchall()
            for (question,) in questions:
                self._rebuild_card(connection, question)

        self._write(write)
        return added

    # reading ------------------------------------------------------------------------------

    # What is dated in the future (see clock.latest_believed) is kept, exported, and not read.

    def attempts(self, question: str | None = None) -> list[Attempt]:
        """In order of time; of all questions where none is named."""
        sql = "SELECT uuid, question, verdict, score, seed, at, seconds, hints_seen FROM attempts"
        return [
            Attempt(r[0], r[1], r[2], r[3], r[4], clock.from_text(r[5]), r[6], r[7])
            for r in self._select(sql, question)
        ]

    def reviews(self, question: str | None = None) -> list[Review]:
        sql = "SELECT uuid, question, at, rating, reason FROM reviews"
        return [
            Review(r[0], r[1], clock.from_text(r[2]), r[3], r[4])
            for r in self._select(sql, question)
        ]

    def events(self, question: str | None = None) -> list[Event]:
        sql = "SELECT uuid, question, name, at, seed, detail FROM events"
        return [
            Event(r[0], r[1], r[2], clock.from_text(r[3]), r[4], json.loads(r[5]))
            for r in self._select(sql, question)
        ]

    def events_named(self, name: str) -> list[Event]:
        """In order of time, of all questions."""
        return [event for event in self.events() if event.name == name]

    def cards(self) -> dict[str, Card]:
        """By question. Rebuilt first where the cache does not fit the reviews."""
        rows = self._read("SELECT question, due, last_review, reviews, lapses FROM cards")
        cards = {
            r[0]: Card(r[0], clock.from_text(r[1]), clock.from_text(r[2]), r[3], r[4]) for r in rows
        }
        believed = clock.latest_believed()
        live = {r[0] for r in self._read(_LIVE_QUESTIONS, {"believed": clock.to_text(believed)})}
        if live != set(cards) or any(card.last_review > believed for card in cards.values()):
            self.rebuild_cards()
            return self.cards()
        return cards

    def fsrs_cards(self) -> dict[str, str]:
        """By question, the card in FSRS's own form (JSON)."""
        self.cards()  # rebuilt where they do not fit the reviews
        return {r[0]: r[1] for r in self._read("SELECT question, card FROM cards")}

    def from_the_future(self) -> int:
        """How many attempts, reviews and events are not read because of their date."""
        believed = clock.to_text(clock.latest_believed())
        sql = " + ".join(f"(SELECT count(*) FROM {table} WHERE at > ?1)" for table in COLUMNS)
        return int(self._read(f"SELECT {sql}", (believed,))[0][0])

    def last_mistake(self, question: str) -> str:
        """The title of the mistake named last for the question, or ""."""
        sql = (
            "SELECT json_extract(report, '$.mistakes[0].title') FROM attempts "
            "WHERE question = ? AND verdict != 'passed' ORDER BY at DESC, uuid DESC LIMIT 1"
        )
        rows = self._read(sql, (question,))
        return str(rows[0][0] or "") if rows else ""

    def was_graded(self, question: str, source: str) -> bool:
        """True where an attempt holds exactly this source: it can be found again."""
        sql = "SELECT 1 FROM attempts WHERE question = ? AND source = ? LIMIT 1"
        return bool(self._read(sql, (question, source)))

    def commonest_mistakes(
        self, count: int, planted: Collection[tuple[str, str]] = ()
    ) -> list[tuple[str, int]]:
        """The titles of the mistakes that reports named most often, but for those that are not the
        learner's: `planted` are questions with the mistakes in the code that they give."""
        sql = (
            "SELECT json_extract(m.value, '$.title') || "
            # There the titles make sense only beside the question.
            "iif(kind IN ('derive', 'trace'), ' (' || question || ')', '') AS title, count(*) AS n "
            "FROM attempts, json_each(attempts.report, '$.mistakes') AS m "
            "WHERE question || '/' || json_extract(m.value, '$.id') "
            "NOT IN (SELECT value FROM json_each(?)) "
            "GROUP BY title ORDER BY n DESC, title LIMIT ?"
        )
        theirs = json.dumps([f"{question}/{mistake}" for question, mistake in planted])
        return [(str(r[0]), int(r[1])) for r in self._read(sql, (theirs, count))]

    def facts(self) -> dict[str, list[dict[str, Any]]]:
        """Every fact, table by table, in order of time, as plain values."""
        return {
            table: [
                dict(zip(columns, tuple(row), strict=True))
                for row in self._read(f"SELECT {', '.join(columns)} FROM {table} ORDER BY at, uuid")
            ]
            for table, columns in COLUMNS.items()
        }

    def check(self) -> str:
        """SQLite's own verdict on the whole file: "ok", or what is wrong."""
        return str(self._read("PRAGMA integrity_check")[0][0])

    def schema_version(self) -> int:
        return int(self._read("PRAGMA user_version")[0][0])

    def why_unrecorded(self) -> str:
        return self._open().unrecorded

    # the database ---------------------------------------------------------------------------

    def _open(self) -> Opened:
        if self._opened is None:
            try:
                self._opened = open_database(self.folder)
            except sqlite3.Error as error:
                raise _unusable(self.path, error) from error
            if self._opened.unread:
                self._say(f"Your progress in {self.folder} cannot be read: it is not shown here.")
            if self._opened.set_aside is not None:
                self._say(
                    f"The database was damaged: it is kept as {self._opened.set_aside}, "
                    "and a fresh one was begun."
                )
        return self._opened

    def _select(self, sql: str, question: str | None) -> list[sqlite3.Row]:
        believed = clock.to_text(clock.latest_believed())
        if question is None:
            return self._read(f"{sql} WHERE at <= ? ORDER BY at, uuid", (believed,))
        sql += " WHERE question = ? AND at <= ? ORDER BY at, uuid"
        return self._read(sql, (question, believed))

    def _read(self, sql: str, values: tuple[Any, ...] | dict[str, Any] = ()) -> list[sqlite3.Row]:
        return self._surviving(lambda connection: connection.execute(sql, values).fetchall())

    def _write(self, write: Callable[[sqlite3.Connection], None]) -> None:
        opened = self._open()
        if opened.unrecorded:
            self._warn(opened.unrecorded)

        def run(connection: sqlite3.Connection) -> None:
            connection.execute("BEGIN IMMEDIATE")
            try:
                write(connection)
                connection.execute("COMMIT")
            except BaseException:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
                raise

        self._surviving(run)

    def _warn(self, unrecorded: str) -> None:
        if not self._warned:
            self._warned = True
            self._say(f"Nothing is being remembered: {unrecorded}.")

    def _surviving(self, action: Callable[[sqlite3.Connection], T]) -> T:
        """Run `action`; where the file proves damaged, set it aside and run it on a fresh one, and
        where the disk has no room for it, on a copy in memory."""
        try:
            return action(self._open().connection)
        except sqlite3.DatabaseError as error:
            if self._open().unrecorded:
                raise _unusable(self.path, error) from error
            unwritable = why_unwritable(error, self.path)
            if not unwritable and not is_corrupt(error):
                raise _unusable(self.path, error) from error
            self.close()
            if unwritable:
                self._opened = in_memory(self.path, unwritable)
                self._warn(unwritable)
                return action(self._opened.connection)
            moved = set_aside(self.path)
            self._say(
                f"The database was damaged: it is kept as {moved}, and a fresh one was begun."
            )
            return action(self._open().connection)

    def _insert_review(
        self, connection: sqlite3.Connection, review: Review, attempt: str | None
    ) -> None:
        """Unless this sitting has one: another drill may have recorded it a moment ago."""
        last = self._live_reviews(connection, review.question)[-1:]
        if any(abs(review.at - before.at) < schedule.ONE_SITTING for before in last):
            return
        row = (
            review.uuid,
            review.question,
            clock.to_text(review.at),
            review.rating,
            review.reason,
            attempt,
        )
        _insert(connection, "reviews", row)
        self._rebuild_card(connection, review.question)

    def _live_reviews(self, connection: sqlite3.Connection, question: str) -> list[Review]:
        believed = clock.to_text(clock.latest_believed())
        names = {"question": question, "believed": believed}
        rows = connection.execute(_LIVE_REVIEWS, names).fetchall()
        return [Review(r[0], r[1], clock.from_text(r[2]), r[3], r[4]) for r in rows]

    def _rebuild_card(self, connection: sqlite3.Connection, question: str) -> None:
        connection.execute("DELETE FROM cards WHERE question = ?", (question,))
        reviews = self._live_reviews(connection, question)
        if not reviews:
            return
        card, fsrs_form = schedule.replay(question, reviews)
        connection.execute(
            "INSERT INTO cards VALUES (?, ?, ?, ?, ?, ?)",
            (
                question,
                clock.to_text(card.due),
                clock.to_text(card.last_review),
                card.reviews,
                card.lapses,
                fsrs_form,
            ),
        )


# Reviews before the last reset belong to a schedule that was given up.
_LIVE_REVIEWS = (
    "SELECT uuid, question, at, rating, reason FROM reviews "
    "WHERE question = :question AND at <= :believed AND at > coalesce((SELECT max(at) FROM events "
    "WHERE question = :question AND at <= :believed AND name = 'reset'), '') ORDER BY at, uuid"
)
_LIVE_QUESTIONS = (
    "SELECT DISTINCT question FROM reviews AS r "
    "WHERE at <= :believed AND at > coalesce((SELECT max(at) FROM events "
    "WHERE question = r.question AND at <= :believed AND name = 'reset'), '')"
)


def _insert(connection: sqlite3.Connection, table: str, row: tuple[Any, ...]) -> int:
    marks = ", ".join("?" * len(row))
    # Only an import meets a uuid twice; a clash of new ones is out of the question.
    cursor = connection.execute(
        f"INSERT INTO {table} VALUES ({marks}) ON CONFLICT (uuid) DO NOTHING", row
    )
    return cursor.rowcount


def _event_row(event: Event) -> tuple[Any, ...]:
    detail = json.dumps(event.detail, sort_keys=True)
    at = clock.to_text(event.at)
    return (event.uuid, event.question, event.name, at, event.seed, detail)


def _unusable(path: Path, error: sqlite3.Error) -> DrillError:
    text = str(error)
    if "locked" in text or "busy" in text:
        return DrillError(
            f"{path} is in use by another drill: wait for it to finish, then try again.", UNUSABLE
        )
    return DrillError(f"{path} cannot be used ({text}).", UNUSABLE)
