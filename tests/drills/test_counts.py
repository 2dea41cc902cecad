"""What SQLite counts, against the same counted in Python, and databases of before."""

from __future__ import annotations

import sqlite3
from datetime import timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from facts import START, at, attempt, event, report, review
from hypothesis import given, settings
from hypothesis import strategies as st

from drills import choose, clock, progress, schedule, sitting
from drills.store import Attempt, Store, counts, database
from drills.store.store import NAME
from drills.store.transfer import export_text, read_export

NOWHERE = Path(__file__) / "no folder"  # so the database lives in memory
HOURS = st.integers(-60, 240)  # before now; what lies more than a day ahead is not believed
NAMED = ({"id": "scale", "title": "no scale"}, {"id": "mask", "title": "mask \x1b[1m first"})


def quiet(_: str) -> None:
    pass


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["a", "b"]),
            st.sampled_from(["passed", "wrong_answer", "served", "hint", "skipped", "reset", 1, 3]),
            HOURS,
        ),
        max_size=12,
    )
)
@settings(max_examples=60, deadline=None)
def test_the_few_facts_read_give_the_standing_of_all_of_them(
    facts: list[tuple[str, str | int, int]],
):
    now = clock.now()
    store = Store(NOWHERE, quiet)
    for number, (question, what, hours) in enumerate(facts):
        moment = now - timedelta(hours=hours, seconds=number)
        if isinstance(what, int):
            store.record_event(event("shown", moment, question), review(what, moment, question))
        elif what in ("passed", "wrong_answer"):
            store.record_attempt(report(question, what), "", attempt(what, moment, question), None)
        else:
            store.record_event(event(what, moment, question, number=number))
    app = cast(Any, SimpleNamespace(store=store, index=SimpleNamespace(order=["a", "b", "c"])))
    for question, found in choose.standings(app).items():
        attempts, reviews = store.attempts(question), store.reviews(question)
        whole = sitting.current(attempts, reviews, store.events(question), clock.now())
        assert found.sitting == whole
        assert found.attempts == len(attempts)
        assert found.passed == any(a.verdict == "passed" for a in attempts)
        assert found.last == (attempts[-1].at if attempts else None)
        assert found.status != "missed" or reviews[-1].rating == schedule.AGAIN


def timed(store: Store, *seconds: tuple[str, float, float | None]) -> None:
    """Attempts as (question, minutes after START, seconds since it was served)."""
    for question, minutes, taken in seconds:
        one = attempt("passed", at(minutes=minutes), question)._replace(seconds=taken)
        store.record_attempt(report(question), "", one, None)


@pytest.mark.parametrize(
    ("attempts", "spent"),
    [
        ([], 0),
        ([("a", 5, 300)], 300),
        ([("a", 5, 300), ("a", 9, 540)], 540),  # the second counts from the first
        ([("a", 5, 300), ("b", 9, 540)], 840),  # another problem, with a time of its own
        ([("a", 5, 300), ("a", 500, 120)], 420),  # served anew long after
        ([("a", 600, 36000)], 3600),  # away meanwhile
        ([("a", 5, None), ("a", 9, 540)], 240),
    ],
)
def test_time_counts_from_the_problem_or_the_try_before(
    attempts: list[tuple[str, float, float | None]], spent: float
):
    store = Store(NOWHERE, quiet)
    timed(store, *attempts)
    assert counts.seconds(store) == pytest.approx(spent, abs=0.01)


def test_days_are_counted_with_their_attempts_and_passes():
    store = Store(NOWHERE, quiet)
    for verdict, moment in (("passed", START), ("wrong_answer", START), ("passed", at(days=2))):
        store.record_attempt(report(), "", attempt(verdict, moment), None)
    local = [moment.astimezone().date().isoformat() for moment in (START, at(days=2))]
    assert counts.days(store) == [(local[0], 2, 1), (local[1], 1, 1)]


def test_retention_leaves_out_the_first_review_of_each_question():
    store = Store(NOWHERE, quiet)
    for days, rating, question in ((0, 1, "a"), (2, 3, "a"), (4, 1, "a"), (6, 2, "a"), (6, 3, "b")):
        store.record_event(
            event("served", at(days=days), question), review(rating, at(days=days), question)
        )
    assert counts.recalled(store) == {"a": (3, 2), "b": (0, 0)}


def fail(store: Store, *mistakes: dict[str, str], kind: str = "code", days: int = 0) -> Attempt:
    one = attempt("wrong_answer", at(days=days))
    named = [{**mistake, "explanation": ""} for mistake in mistakes]
    store.record_attempt({**report(), "kind": kind, "mistakes": named}, "", one, None)
    return one


def test_mistakes_are_counted_but_for_those_in_the_code_as_given():
    store = Store(NOWHERE, quiet)
    fail(store, *NAMED)
    fail(store, NAMED[0], days=1)
    fail(store, NAMED[0], kind="derive")
    fail(store, NAMED[0], days=365 * 100)  # not believed
    assert counts.mistakes(store, 5, ()) == [
        ("no scale", 2), (NAMED[1]["title"], 1), ("no scale (rope)", 1),
    ]  # fmt: skip
    assert counts.mistakes(store, 1, ()) == [("no scale", 2)]
    assert counts.mistakes(store, 5, [("rope", "scale")]) == [(NAMED[1]["title"], 1)]


def test_counting_progress_reads_no_report():
    store = Store(NOWHERE, quiet)
    fail(store, *NAMED)
    timed(store, ("rope", 5, 300))
    question = {"topic": "t", "kind": "code"}
    index = SimpleNamespace(order=["rope"], questions={"rope": question})
    touched: set[str] = set()

    def watch(action: int, table: str | None, column: str | None, *_: Any) -> int:
        if action == sqlite3.SQLITE_READ and table == "attempts":
            touched.add(str(column))
        return sqlite3.SQLITE_OK

    store._open().connection.set_authorizer(watch)
    measured = progress.measure(cast(Any, SimpleNamespace(store=store, index=index)))
    assert (measured.attempts, measured.mistakes[0].times) == (2, 1)
    indexed = store.read("SELECT name FROM pragma_index_info('attempts_in_short')")
    assert touched <= {str(row[0]) for row in indexed}
    assert "seconds" in touched


NOT_FINITE = {**report(), "score": float("nan")}  # no JSON to a SQLite before 3.42


def test_a_number_that_is_none_in_a_report_damages_nothing(tmp_path: Path):
    store = Store(tmp_path, quiet)
    fail(store, *NAMED)
    store.record_attempt(NOT_FINITE, "", attempt("wrong_answer", at(days=1)), None)
    facts = read_export(export_text(store).encode(), "x.json")
    new = Store(NOWHERE, quiet)
    assert new.merge(facts)["attempts"] == 2
    assert [one.last_mistake("rope") for one in (store, new)] == ["", ""]
    assert not database.is_corrupt(sqlite3.OperationalError("malformed JSON"))
    assert sorted(path.suffix for path in tmp_path.iterdir()) == [".db", ".db-shm", ".db-wal"]


def of_before(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Store:
    """A database as the first version made it, with two mistakes in it."""
    with monkeypatch.context() as patch:
        patch.setattr(database, "VERSION", 1)
        store = Store(folder, quiet)
        fail(store, *NAMED)
        store.record_attempt(NOT_FINITE, "", attempt("wrong_answer", at(days=1)), None)
        store.close()
    return store


def test_a_database_of_before_is_migrated_with_its_mistakes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    store = of_before(tmp_path, monkeypatch)
    fail(store, NAMED[0])
    assert counts.mistakes(store, 5, ()) == [("no scale", 2), (NAMED[1]["title"], 1)]
    assert store.schema_version() == 2
    assert len(store.attempts()) == 3
    assert (tmp_path / NAME).exists()


def test_an_export_of_before_brings_its_mistakes_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    old = of_before(tmp_path, monkeypatch)
    facts = read_export(export_text(old).encode(), "old.json")
    new = Store(NOWHERE, quiet)
    assert [new.merge(facts)["attempts"] for _ in range(2)] == [2, 0]
    assert counts.mistakes(new, 5, ()) == counts.mistakes(old, 5, ())
    assert new.facts() == old.facts()


def test_a_report_of_another_form_is_kept_and_names_no_mistake():
    store = Store(NOWHERE, quiet)
    for mistakes in ("none", ["scale"], [{}], None, [NAMED[0]]):
        store.record_attempt({**report(), "mistakes": mistakes}, "", attempt("passed", START), None)
    assert len(store.attempts()) == 5
    assert counts.mistakes(store, 5, ()) == [("no scale", 1)]
