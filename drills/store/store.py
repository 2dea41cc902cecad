"""The one object the commands talk to. It opens on the first use."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any, TypeVar

from drills import clock, schedule
from drills.errors import UNUSABLE, DrillError
from drills.store import queries
from drills.store.database import (
    NAME,
    Opened,
    in_memory,
    is_corrupt,
    open_database,
    set_aside,
    why_unwritable,
)
from drills.store.rows import Attempt, Card, Event, Review, StandingFacts
from drills.store.schema import COLUMNS

T = TypeVar("T")


class Store:
    """Facts in, facts out. `say` is told, once, whatever the learner must know about the database.

    Every write is one transaction, committed (and synced) before the method returns. One thread at
    a time.
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
        self._write(self._rebuild_cards)

    def merge(self, facts: dict[str, list[tuple[Any, ...]]]) -> dict[str, int]:
        """Add the facts that are not here yet (by uuid); returns how many, by table."""
        added: dict[str, int] = {}

        def write(connection: sqlite3.Connection) -> None:
            for table, rows in facts.items():
                added[table] = sum(_insert(connection, table, row) for row in rows)
            self._rebuild_cards(connection)

        self._write(write)
        return added

    # reading ------------------------------------------------------------------------------

    # What is dated in the future (see clock.latest_believed) is kept, exported, and not read.

    def attempts(self, question: str | None = None) -> list[Attempt]:
        """In order of time; of all questions where none is named."""
        sql = f"SELECT {queries.ATTEMPT} FROM attempts"
        return [queries.attempt(row) for row in self._select(sql, question)]

    def standing_facts(self) -> StandingFacts:
        """All that tells where the learner stands now, of every question: the few facts since its
        last review, skip or reset, and how many there were before."""
        return queries.standing_facts(self.read)

    def attempt(self, uuid: str) -> tuple[dict[str, Any], str] | None:
        """An attempt's report and what was submitted."""
        rows = self.read("SELECT report, source FROM attempts WHERE uuid = :uuid", uuid=uuid)
        return (json.loads(rows[0][0]), rows[0][1]) if rows else None

    def reviews(self, question: str | None = None) -> list[Review]:
        sql = f"SELECT {queries.REVIEW} FROM reviews"
        return [queries.review(row) for row in self._select(sql, question)]

    def events(self, question: str | None = None) -> list[Event]:
        sql = f"SELECT {queries.EVENT} FROM events"
        return [queries.event(row) for row in self._select(sql, question)]

    def events_named(self, name: str) -> list[Event]:
        """In order of time, of all questions."""
        sql = (
            f"SELECT {queries.EVENT} FROM events "
            "WHERE name = :name AND at <= :believed ORDER BY at, uuid"
        )
        return [queries.event(row) for row in self.read(sql, name=name)]

    def last_begun(self, questions: Collection[str]) -> str | None:
        """Which of `questions` was served or started last."""
        sql = (
            "SELECT question FROM events WHERE name IN ('served', 'started') AND at <= :believed "
            "AND question IN (SELECT value FROM json_each(:questions)) "
            "ORDER BY at DESC, uuid DESC LIMIT 1"
        )
        rows = self.read(sql, questions=json.dumps(list(questions)))
        return str(rows[0][0]) if rows else None

    def cards(self) -> dict[str, Card]:
        """By question. Rebuilt first where the cache does not fit the reviews."""
        sql = (
            "SELECT question, due, last_review, reviews, lapses, json_extract(card, '$.stability') "
            "FROM cards"
        )
        cards = {
            r[0]: Card(r[0], clock.from_text(r[1]), clock.from_text(r[2]), r[3], r[4], r[5])
            for r in self.read(sql)
        }
        # A date in the future is believed once its time comes: then the cache is behind.
        live = {row[0]: clock.from_text(row[1]) for row in self.read(queries.LIVE_QUESTIONS)}
        if live != {card.question: card.last_review for card in cards.values()}:
            self.rebuild_cards()
            return self.cards()
        return cards

    def fsrs_cards(self) -> dict[str, str]:
        """By question, the card in FSRS's own form (JSON)."""
        self.cards()  # rebuilt where they do not fit the reviews
        return {r[0]: r[1] for r in self.read("SELECT question, card FROM cards")}

    def from_the_future(self) -> int:
        """How many attempts, reviews and events are not read because of their date."""
        sql = " + ".join(
            f"(SELECT count(*) FROM {table} WHERE at > :believed)" for table in COLUMNS
        )
        return int(self.read(f"SELECT {sql}")[0][0])

    def last_mistake(self, question: str) -> str:
        """The title of the mistake named last for the question, or ""."""
        sql = (
            "SELECT (SELECT title FROM mistakes WHERE attempt = uuid AND place = 0) FROM attempts "
            "WHERE question = :question AND verdict != 'passed' AND at <= :believed "
            "ORDER BY at DESC, uuid DESC LIMIT 1"
        )
        rows = self.read(sql, question=question)
        return str(rows[0][0] or "") if rows else ""

    def was_graded(self, question: str, source: str) -> bool:
        """True where an attempt holds exactly this source: it can be found again."""
        sql = "SELECT 1 FROM attempts WHERE question = :question AND source = :source LIMIT 1"
        return bool(self.read(sql, question=question, source=source))

    def facts(self) -> dict[str, list[dict[str, Any]]]:
        """Every fact, table by table, in order of time, as plain values."""
        return {
            table: [
                dict(zip(columns, tuple(row), strict=True))
                for row in self.read(f"SELECT {', '.join(columns)} FROM {table} ORDER BY at, uuid")
            ]
            for table, columns in COLUMNS.items()
        }

    def check(self) -> str:
        """SQLite's own verdict on the whole file: "ok", or what is wrong."""
        return str(self.read("PRAGMA integrity_check")[0][0])

    def schema_version(self) -> int:
        return int(self.read("PRAGMA user_version")[0][0])

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

    def read(self, sql: str, **values: str | float) -> list[sqlite3.Row]:
        """The rows of a query; in it `:believed` is the latest date to believe."""
        names = {"believed": clock.to_text(clock.latest_believed()), **values}
        return self._surviving(lambda connection: connection.execute(sql, names).fetchall())

    def _select(self, sql: str, question: str | None) -> list[sqlite3.Row]:
        if question is None:
            return self.read(f"{sql} WHERE at <= :believed ORDER BY at, uuid")
        where = "WHERE question = :question AND at <= :believed ORDER BY at, uuid"
        return self.read(f"{sql} {where}", question=question)

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
        return [queries.review(row) for row in connection.execute(queries.LIVE_REVIEWS, names)]

    def _rebuild_cards(self, connection: sqlite3.Connection) -> None:
        connection.execute("DELETE FROM cards")
        questions = connection.execute("SELECT DISTINCT question FROM reviews").fetchall()
        for (question,) in questions:
            self._rebuild_card(connection, question)

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
