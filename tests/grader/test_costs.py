"""Whole grades in real processes: a fair cost passes in every style, too high a one is told."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from bank import question
from cost_answers import CHEATS, RIGHT, TOO_COSTLY

from grader.isolation.calls import Outcome
from grader.judging.cost_bounds import Excess
from grader.judging.costs import Scales, Weighed
from grader.report import Report
from grader.session import Grader

PAIRS = [(id_, style) for id_, styles in RIGHT.items() for style in styles]
COSTLY = [(id_, style) for id_, styles in TOO_COSTLY.items() for style in styles]


@pytest.fixture(scope="module")
def grader() -> Iterator[Grader]:
    with Grader() as one:
        yield one


def grade(grader: Grader, id_: str, source: str, seed: int = 3) -> Report:
    return grader.grade(question(id_), source.encode(), seed, "answer.py", {})


@pytest.mark.parametrize(("id_", "style"), PAIRS)
def test_right_code_of_a_fair_cost_passes(grader: Grader, id_: str, style: str) -> None:
    report = grade(grader, id_, RIGHT[id_][style])
    assert report.verdict == "passed", (report.summary, report.checks)
    assert report.costs.largest_tensor is not None


@pytest.mark.parametrize(("id_", "style"), COSTLY)
def test_right_values_at_too_high_a_cost_are_told_so(grader: Grader, id_: str, style: str) -> None:
    source, says = TOO_COSTLY[id_][style]
    report = grade(grader, id_, source)
    assert report.verdict == "too_costly", (report.summary, report.checks)
    assert report.summary.startswith("The values are right, at too high a cost. ")
    assert says in report.summary
    told = {check.id for check in report.checks if check.verdict == "too_costly"}
    assert told <= {f"cost/{cost['id']}" for cost in question(id_)["costs"]}
    assert {c.verdict for c in report.checks if c.id not in told} <= {"passed"}


@pytest.mark.parametrize("id_", CHEATS)
def test_other_values_at_larger_sizes_are_wrong(grader: Grader, id_: str) -> None:
    report = grade(grader, id_, CHEATS[id_])
    assert report.verdict == "wrong_answer"
    (failed,) = [check for check in report.checks if check.verdict == "wrong_answer"]
    assert failed.id == "cost/values"
    assert "the values are wrong" in report.summary


def test_a_cost_is_looked_at_once_the_values_are_right(grader: Grader) -> None:
    source, _ = TOO_COSTLY["flash-attention"]["the whole matrix"]
    report = grade(grader, "flash-attention", source.replace("@ v", "@ v * 1.01"))
    assert report.verdict == "wrong_answer"
    costs = {check.id: check.verdict for check in report.checks if check.id.startswith("cost/")}
    assert set(costs.values()) == {"skipped"}
    assert report.costs.largest_tensor is None


def test_one_case_alone_asks_for_no_cost(grader: Grader) -> None:
    source, _ = TOO_COSTLY["flash-attention"]["the whole matrix"]
    asked = question("flash-attention")
    case = asked["cases"][0]["id"]
    report = grader.grade(asked, source.encode(), 3, "answer.py", {}, case)
    assert report.verdict == "passed"
    assert not [check for check in report.checks if check.id.startswith("cost/")]


def test_a_window_is_reported_and_fails_nobody(grader: Grader) -> None:
    source = """
import torch
def sliding_window_attention(q, k, v, window):
    at = torch.arange(q.shape[-2])
    far = at[:, None] - at
    s = q @ k.mT / q.shape[-1] ** 0.5
    return s.masked_fill((far < 0) | (far >= window), -torch.inf).softmax(-1) @ v
"""
    report = grade(grader, "sliding-window", source)
    assert report.verdict == "passed"
    (note,) = report.notes
    assert "The work grows" in note
    assert "with T squared" in note
    assert note.endswith("Reported, not held against it.")


def test_an_exception_at_a_larger_size_is_told_with_the_arguments(grader: Grader) -> None:
    source = RIGHT["linear-attention"]["a cumulative sum of T x D x D_v"].replace(
        "    q, k = elu", "    assert q.shape[-2] < 1000, 'long'\n    q, k = elu"
    )
    report = grade(grader, "linear-attention", source)
    assert report.verdict == "runtime_error"
    assert "long" in report.summary
    assert "(1, 1, 1536, 4)" in report.summary
    assert "long" in report.traceback


class Loads:
    """A worker that loads whatever it is given."""

    def __enter__(self) -> Loads:
        return self

    def __exit__(self, *_: object) -> None:
        return None

    def load(self) -> Outcome:
        return Outcome("returned")

    def call(self, call: object) -> Outcome:
        raise AssertionError("the readings are given")


CLEAR, SLIGHT = (Excess("time", {}, ratio=ratio, allowed=14.0) for ratio in (37.5, 15.0))


@pytest.mark.parametrize(
    ("readings", "taken", "counts"),
    [
        ([CLEAR, None], 2, None),
        ([CLEAR, CLEAR], 2, CLEAR),
        ([CLEAR, SLIGHT, None], 3, None),
        ([SLIGHT, CLEAR, SLIGHT], 3, SLIGHT),
        ([None], 1, None),
    ],
)
def test_no_single_reading_from_outside_makes_an_answer_too_costly(
    monkeypatch: pytest.MonkeyPatch,
    readings: list[Excess | None],
    taken: int,
    counts: Excess | None,
) -> None:
    assert CLEAR.clear
    assert not SLIGHT.clear
    left = list(readings)
    monkeypatch.setattr(Scales, "_reading", lambda *_: left.pop(0))
    scales, weighed = Scales({"seconds": 1.0}, None, 0, Loads), Weighed({})  # type: ignore[arg-type]
    scales._look(weighed, Loads())
    assert len(readings) - len(left) == taken
    assert weighed.excess is counts


def test_a_file_that_does_not_load_again_takes_no_excess_back(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class LoadsOnce(Loads):
        def load(self) -> Outcome:
            return Outcome("exception")

    monkeypatch.setattr(Scales, "_reading", lambda *_: CLEAR)
    scales = Scales({"seconds": 1.0}, None, 0, LoadsOnce)  # type: ignore[arg-type]
    weighed = Weighed({})
    scales._look(weighed, Loads())
    assert weighed.outcome == Outcome("exception")
    assert weighed.settled
