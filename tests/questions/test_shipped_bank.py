"""The bank that ships is in order."""

from __future__ import annotations

from questions.content import check
from questions.index import load


def test_the_shipped_bank_has_no_findings() -> None:
    assert [str(finding) for finding in check()] == []


def test_teaching_order_holds_the_whole_bank_after_what_it_follows() -> None:
    index = load()
    place = {id_: i for i, id_ in enumerate(index.order)}
    assert place.keys() == index.questions.keys()
    for id_, question in index.questions.items():
        assert all(place[before] < place[id_] for before in question["follows"])
