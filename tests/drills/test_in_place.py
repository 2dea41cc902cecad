"""What is typed and pasted becomes the answer that was meant."""

from __future__ import annotations

import builtins
from collections.abc import Callable

import pytest
from conftest import BANK

from drills import serving
from drills.ask import Said, Typist
from drills.in_place import Answering
from questions.loader import load_bank

Answers = Callable[..., None]


@pytest.fixture
def types(monkeypatch: pytest.MonkeyPatch) -> Answers:
    """`types(a, b)`: what input() gives, one entry an Enter; then the end of input."""

    def script(*entries: str) -> None:
        waiting = iter(entries)

        def read(_prompt: str = "") -> str:
            try:
                return next(waiting)
            except StopIteration:
                raise EOFError from None

        monkeypatch.setattr(builtins, "input", read)

    return script


def served(kind: str) -> serving.Served:
    question = next(q for q in load_bank(BANK).values() if q.kind == kind)
    return serving.serve({**question.model_dump(mode="json"), "revision": 1}, 1)


@pytest.mark.parametrize(
    "entries",
    [
        ("It mixes.\n\nThe weights sum to one.",),  # pasted, then Ctrl-D
        ("It mixes.\r\n\r\nThe weights sum to one.\r\n", "", "never read"),
    ],
)
def test_a_pasted_explanation_keeps_its_empty_lines(types: Answers, entries: tuple[str, ...]):
    types(*entries)
    assert Answering().read(served("explain")) == "It mixes.\n\nThe weights sum to one."


def test_an_explanation_goes_on_until_an_empty_line(types: Answers):
    types("", "It mixes.", "It sums.", "", "never read")
    assert Answering().read(served("explain")) == "It mixes.\nIt sums."


def test_the_end_of_input_without_an_answer_is_quit(types: Answers):
    for kind in ("explain", "trace", "choice"):
        types()
        with pytest.raises(Said) as said:
            Answering().read(served(kind))
        assert said.value.word == "quit"


def test_a_command_word_counts_only_alone(types: Answers):
    types("skip the mask", "")
    assert Answering().read(served("explain")) == "skip the mask"
    types(" Hint ")
    with pytest.raises(Said) as said:
        Answering().read(served("explain"))
    assert said.value.word == "hint"


@pytest.mark.parametrize(
    "pasted",
    [
        ("1 2\n3 4\n5 6",),
        ("[[1, 2],\n [3, 4],\n [5, 6]]",),
        ("[[1, 2],", "[3, 4],", "[5, 6]]"),
        ("1 2; 3 4; 5 6",),
    ],
)
def test_a_matrix_may_come_in_any_number_of_lines(types: Answers, pasted: tuple[str, ...]):
    from grader.answers.matrices import read_matrices

    question = served("trace")
    answering = Answering()
    answering.given = {part["id"]: "kept" for part in question.parts[1:]}
    types(*pasted)
    first, *rest = answering.read(question).split("\n")
    assert read_matrices(first, [(3, 2)])[0].rows == ((1, 2), (3, 4), (5, 6))
    assert set(rest) == {"kept"}


def test_matrices_pasted_one_a_line_answer_one_part_each(types: Answers):
    question = served("trace")
    lines = ["1 2; 3 4"] * len(question.parts)
    types("\n".join(lines))
    assert Answering().read(question).split("\n") == lines


def test_leftovers_of_a_paste_are_no_yes(types: Answers):
    typist = Typist()
    types("first\nyes", "maybe", "n")
    assert typist.line(" > ") == "first"
    assert typist.yes("[y/n] ") is False
