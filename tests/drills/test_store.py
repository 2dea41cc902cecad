from __future__ import annotations

import os
import sqlite3
import threading
from pathlib import Path

import pytest
from facts import START, at, attempt, event, report, review

from drills.errors import UNUSABLE, DrillError
from drills.schedule import AGAIN, GOOD
from drills.store import Store
from drills.store.database import NAME
from drills.store.schema import VERSION
from drills.store.transfer import export_text, read_export


@pytest.fixture
def said() -> list[str]:
    return []


@pytest.fixture
def store(tmp_path: Path, said: list[str]) -> Store:
    return Store(tmp_path / "home", said.append)


def fill(store: Store, questions: tuple[str, ...] = ("rope", "gqa")) -> None:
    for question in questions:
        store.record_event(event("served", START, question))
        passed = attempt("passed", at(minutes=3), question)
        store.record_attempt(report(question), "x = 1", passed, review(GOOD, passed.at, question))


def test_what_was_recorded_is_read_back(store: Store, tmp_path: Path):
    fill(store)
    again = Store(tmp_path / "home", print)
    assert [a.question for a in again.attempts()] == [a.question for a in store.attempts()]
    assert again.attempts("rope")[0].verdict == "passed"
    assert again.events("gqa")[0].seed == 7
    assert again.was_graded("rope", "x = 1")
    assert not again.was_graded("rope", "x = 2")


@pytest.mark.parametrize("table", ["attempts", "reviews", "events"])
@pytest.mark.parametrize("change", ["DELETE FROM {}", "UPDATE {} SET question = 'other'"])
def test_facts_cannot_be_changed_or_deleted(store: Store, table: str, change: str):
    fill(store)
    store.close()
    connection = sqlite3.connect(store.path)
    with pytest.raises(sqlite3.IntegrityError, match="only ever grows"):
        connection.execute(change.format(table))
    connection.close()


def test_cards_are_rebuilt_the_same_after_they_were_lost(store: Store):
    fill(store)
    store.record_event(event("gave-up", at(days=4)), review(AGAIN, at(days=4)))
    before = store.cards()
    store.close()
    connection = sqlite3.connect(store.path)
    rows = connection.execute("SELECT * FROM cards ORDER BY question").fetchall()
    connection.execute("DELETE FROM cards")
    connection.commit()
    assert store.cards() == before
    again = connection.execute("SELECT * FROM cards ORDER BY question").fetchall()
    connection.close()
    assert again == rows


def test_a_review_and_its_attempt_are_recorded_together_or_not_at_all(store: Store):
    bad = review(9, at(minutes=3))  # no such rating
    with pytest.raises(DrillError):
        store.record_attempt(report(), "x", attempt("passed", at(minutes=3)), bad)
    assert store.attempts() == []
    assert store.cards() == {}


def test_a_reset_takes_the_card_away_and_keeps_the_attempts(store: Store):
    fill(store)
    store.record_event(event("reset", at(hours=1)))
    assert set(store.cards()) == {"gqa"}
    assert len(store.attempts("rope")) == 1


def test_a_newer_database_is_refused_and_left_as_it_is(store: Store):
    fill(store)
    store.close()
    connection = sqlite3.connect(store.path)
    connection.execute(f"PRAGMA user_version = {VERSION + 1}")
    connection.close()
    content = store.path.read_bytes()
    with pytest.raises(DrillError, match="newer drill") as caught:
        store.attempts()
    assert caught.value.code == UNUSABLE
    assert store.path.read_bytes() == content


def test_another_programs_database_is_left_alone(store: Store):
    store.path.parent.mkdir()
    connection = sqlite3.connect(store.path)
    connection.execute("CREATE TABLE theirs (x)")
    connection.commit()
    connection.close()
    with pytest.raises(DrillError, match="another program"):
        store.attempts()


@pytest.mark.parametrize("damage", ["garbage", "header", "middle"])
def test_a_corrupt_database_is_set_aside_and_a_fresh_one_begun(
    store: Store, said: list[str], damage: str
):
    for number in range(60):
        fill(store, (f"question-{number}",))
    store.close()
    content = bytearray(store.path.read_bytes())
    if damage == "garbage":
        content[:] = os.urandom(5000)
    elif damage == "header":
        content[:16] = b"not SQLite at al"
    else:
        content[4096 : len(content) - 4096] = b"\xff" * (len(content) - 8192)
    store.path.write_bytes(content)
    fill(store, ("after",))
    assert [a.question for a in store.attempts()] == ["after"]
    aside = list(store.folder.glob(f"{NAME}.corrupt-*"))
    assert bytes(content) in [path.read_bytes() for path in aside]
    assert len(said) == 1
    assert "damaged" in said[0]
    assert str(aside[0].name).partition("-wal")[0] in said[0]


def test_an_empty_file_is_a_new_database(store: Store, said: list[str]):
    store.folder.mkdir()
    store.path.touch()
    fill(store)
    assert len(store.attempts()) == 2
    assert said == []


def test_where_nothing_can_be_written_all_works_but_nothing_is_kept(
    tmp_path: Path, said: list[str]
):
    (tmp_path / "file").write_text("in the way")
    store = Store(tmp_path / "file" / "home", said.append)
    fill(store)
    assert len(store.attempts()) == 2
    assert len(said) == 1
    assert "Nothing is being remembered" in said[0]
    with pytest.raises(DrillError) as caught:
        store.require_recording("skip")
    assert caught.value.code == UNUSABLE


def test_two_processes_writing_at_once_lose_nothing(tmp_path: Path):
    def work(name: str) -> None:
        mine = Store(tmp_path, print)
        for _ in range(20):
            fill(mine, (name,))
        mine.close()

    threads = [threading.Thread(target=work, args=(f"q{n}",)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(Store(tmp_path, print).attempts()) == 80


def test_an_export_merges_into_another_home_without_loss_or_doubles(store: Store, tmp_path: Path):
    fill(store, ("rope",))
    other = Store(tmp_path / "other", print)
    fill(other, ("gqa",))
    facts = read_export(export_text(store).encode(), "x.json")
    assert other.merge(facts) == {"attempts": 1, "reviews": 1, "events": 1}
    assert other.merge(facts) == {"attempts": 0, "reviews": 0, "events": 0}
    assert {a.question for a in other.attempts()} == {"rope", "gqa"}
    assert other.cards()["rope"] == store.cards()["rope"]
    back = read_export(export_text(other).encode(), "y.json")
    store.merge(back)
    assert store.facts() == other.facts()


def test_a_damaged_export_is_refused_whole(store: Store):
    fill(store)
    text = export_text(store)
    for wrong in (
        text.replace('"rating": 3', '"rating": 7'),
        text.replace('"seed": 7', '"seed": "7"'),
        text.replace('"question": "rope"', '"question": "\\ud800"'),
        text.replace('"detail": {}', '"detail": {"by": "\\ud800"}'),
        text.replace('"uuid"', '"id"', 1),
        text.replace("Z", "", 1).replace('"at": "2026', '"at": "26'),
        '{"format": 1, "program": "drill"}',
        "[]",
        "nonsense",
    ):
        with pytest.raises(DrillError):
            read_export(wrong.encode(), "x.json")
    with pytest.raises(DrillError, match="newer drill"):
        read_export(text.replace('"format": 1', '"format": 2', 1).encode(), "x.json")
