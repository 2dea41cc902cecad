"""The rubric of mock interviews: its page and its numbers agree, and made-up candidates get what a
loop would say of them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from drills.mock import roles, scores
from drills.mock.scores import Judged, Score, conclude, value
from drills.mock.state import MISSED, OUT_OF_TIME, PASSED, SKIPPED, Item, Try

RUBRIC = (Path(__file__).resolve().parents[2] / "docs" / "mock-rubric.md").read_text()
KINDS = {
    roles.CORRECTNESS: "code",
    roles.DERIVATION: "derive",
    roles.SYSTEMS: "compute",
    roles.DEBUGGING: "debug",
    roles.COMMUNICATION: "explain",
}


def judged(
    competency: str,
    outcome: str = PASSED,
    right: float = 1.0,
    hints: int = 0,
    failures: int = 0,
    level: int = 2,
    pace: float = 0.8,
) -> Judged:
    """An answer of 5 minutes par; `right` is its score where it did not pass."""
    tries = [Try("x", "wrong_answer", 0.0, (), 0.0)] * failures
    if outcome == PASSED:
        tries.append(Try("x", "passed", 1.0, (), 0.0))
    elif outcome == MISSED:
        tries.append(Try("x", "partial", right, (), 0.0))
    item = Item(1, "q", 1, "code", level, 300.0, 0.0, tries=tuple(tries), hints=hints,
                outcome=outcome, closed=300.0 * pace)  # fmt: skip
    return Judged(item, competency, right, "told")


def said(candidate: list[Judged], role: str = "inference") -> str:
    return conclude(scores.scores(candidate), roles.ROLES[role]).said


def everywhere(**answer: float) -> list[Judged]:
    return [judged(name, **answer) for name in KINDS]  # type: ignore[arg-type]


@pytest.mark.parametrize("role", roles.ROLES)
def test_who_is_right_throughout_is_a_strong_hire(role: str):
    assert said(everywhere(), role) == "strong hire"


@pytest.mark.parametrize("role", roles.ROLES)
def test_who_needs_a_hint_or_a_second_run_each_time_is_a_hire(role: str):
    assert said(everywhere(hints=1), role) == "hire"
    assert said(everywhere(failures=1), role) in ("hire", "strong hire")


@pytest.mark.parametrize("role", roles.ROLES)
def test_who_skips_everything_is_no_hire(role: str):
    assert said([judged(name, outcome=SKIPPED) for name in KINDS], role) == "no hire"


def test_who_codes_well_and_is_lost_in_arithmetic_is_a_hire_for_training_but_not_for_inference():
    lost = [
        judged(name, outcome=MISSED, right=0.0) if name == roles.SYSTEMS else judged(name)
        for name in KINDS
    ]
    assert said(lost, "training") in ("hire", "lean hire")
    assert said(lost, "inference") == "lean hire"
    assert conclude(scores.scores(lost), roles.ROLES["inference"]).worry == roles.SYSTEMS


def test_fluency_does_not_carry_code_that_never_works():
    fluent = [
        judged(name, outcome=MISSED, right=0.1) if name == roles.CORRECTNESS else judged(name)
        for name in KINDS
    ]
    for role in roles.ROLES:
        assert said(fluent, role) in ("lean no hire", "no hire")


def test_half_right_answers_are_no_hire_on_any_side_of_the_line():
    assert said(everywhere(outcome=MISSED, right=0.5)) in ("lean no hire", "no hire")  # type: ignore[arg-type]


def test_too_little_seen_gives_no_conclusion():
    few = [judged(roles.CORRECTNESS), judged(roles.SYSTEMS)]
    assert said(few) == scores.UNDECIDED
    assert said([*few, judged(roles.DERIVATION)]) != scores.UNDECIDED


def test_what_the_end_cut_off_counts_neither_way():
    cut = judged(roles.DEBUGGING, outcome=OUT_OF_TIME)
    found = {s.competency: s.score for s in scores.scores([*everywhere(), cut])}
    assert found[roles.DEBUGGING] == scores.MOST
    alone = {s.competency: s.score for s in scores.scores([cut])}
    assert alone[roles.DEBUGGING] is None


def test_being_wrong_at_once_is_not_quick():
    hasty = [judged(name, outcome=MISSED, right=0.0, pace=0.01) for name in KINDS]
    assert next(s for s in scores.scores(hasty) if s.competency == roles.PACE).score is None


@given(
    hints=st.integers(0, 6),
    failures=st.integers(0, 6),
    right=st.floats(0, 1),
    outcome=st.sampled_from([PASSED, MISSED, SKIPPED]),
)
def test_a_hint_or_a_failure_more_never_raises_what_an_answer_is_worth(
    hints: int, failures: int, right: float, outcome: str
):
    here = value(judged(roles.SYSTEMS, outcome, right, hints, failures))
    assert 0 <= here <= 1
    assert value(judged(roles.SYSTEMS, outcome, right, hints + 1, failures)) <= here
    if outcome == PASSED:
        assert value(judged(roles.SYSTEMS, outcome, right, hints, failures + 1)) <= here
        missed = value(judged(roles.SYSTEMS, MISSED, right, hints, failures))
        assert here >= missed - 1e-9


@given(st.lists(st.integers(0, 5), min_size=6, max_size=6), st.sampled_from(sorted(roles.ROLES)))
def test_a_better_score_never_makes_the_conclusion_worse(found: list[int], role: str):
    ranks = ["no hire", "lean no hire", "lean hire", "hire", "strong hire"]

    def rank(values: list[int]) -> int:
        told = [Score(n, v, ()) for n, v in zip(roles.COMPETENCIES, values, strict=True)]
        return ranks.index(conclude(told, roles.ROLES[role]).said)

    for place in range(6):
        if found[place] < 5:
            better = [*found[:place], found[place] + 1, *found[place + 1 :]]
            assert rank(better) >= rank(found)


def test_the_page_of_the_rubric_says_the_numbers_that_the_code_uses():
    text = re.sub(r"\s+", " ", RUBRIC)
    assert f"less {scores.HINT_PRICE} a hint and {scores.RETRY_PRICE:.2f} a failed run" in text
    assert (
        f"({scores.MOST_FOR_RETRIES:.2f} at most); never under {scores.LEAST_FOR_A_PASS:.2f}"
        in text
    )
    assert f"times {scores.SHARE_OF_UNPASSED:.2f}" in text
    assert f"evidence for {scores.LEVEL_ONE_MOST} at most" in text
    for most, score in scores.PACES:
        assert f"| {most:.2f} | {score} |" in text
    for least, name in scores.CONCLUSIONS:
        assert f"| {least:.2f} | {name} |" in text
    for role in roles.ROLES.values():
        weights = " | ".join(str(role.weights[name]) for name in roles.COMPETENCIES)
        assert f"| {role.name} | {weights} |" in text
    assert f"no score under {scores.NO_WEAKNESS}" in text
    assert f"fewer than {scores.ENOUGH} competencies" in text
    assert f"correctness of {scores.GATE} or 0" in text
