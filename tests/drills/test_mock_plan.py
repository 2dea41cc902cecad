"""What the interviewer asks next, from the answers so far, the clock and the seed alone."""

from __future__ import annotations

from datetime import datetime, timezone
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from drills.mock import plan, roles
from drills.mock.plan import Step, next_step
from drills.mock.state import MISSED, PASSED, SKIPPED, Item, State, Try
from questions import index

BANK = index.load().questions
WHEN = datetime(2026, 11, 30, tzinfo=timezone.utc)


def sit(
    role: str, minutes: int, seed: int, outcomes: object, pace: float = 0.8, bank: plan.Bank = BANK
) -> tuple[State, float]:
    """A whole interview: `outcomes(item number)` says how each question ends, at `pace` of par."""
    state, used = State("x", role, minutes, seed, WHEN), 0.0
    while used < minutes * 60:
        step = next_step(state, bank, used)
        if step is None:
            break
        state, used = answer(state, step, outcomes(len(state.items) + 1), used, pace)  # type: ignore[operator]
    return state, used


def answer(
    state: State, step: Step, outcome: str, used: float, pace: float, troubles: tuple[str, ...] = ()
) -> tuple[State, float]:
    file = ""
    if roles.is_code(BANK[step.question]["kind"]):
        file = state.items[-1].file if step.same_file else step.question
    tries = (
        () if outcome == SKIPPED else (Try("x", outcome, float(outcome == PASSED), troubles, used),)
    )
    end = used + step.par * pace
    item = Item(len(state.items) + 1, step.question, 1, step.round, BANK[step.question]["level"],
                step.par, used, step.after, step.says, file, tries, 0, outcome, end)  # fmt: skip
    state = State(state.id, state.role, state.minutes, state.seed, WHEN, (*state.items, item))
    return state, end


interviews = st.tuples(
    st.sampled_from(sorted(roles.ROLES)),
    st.integers(15, 90),
    st.integers(0, 10**6),
    st.integers(0, 10**6),
    st.floats(0.0, 1.6),
)


@settings(max_examples=60, deadline=None)
@given(interviews)
def test_an_interview_ends_and_asks_nothing_twice(drawn: tuple[str, int, int, int, float]):
    role, minutes, seed, luck, pace = drawn
    chance = Random(luck)
    state, _ = sit(role, minutes, seed, lambda n: chance.choice([PASSED, MISSED, SKIPPED]), pace)
    asked = [item.question for item in state.items]
    assert asked
    assert len(asked) == len(set(asked))
    order = [part.name for part in roles.ROUNDS]
    places = [order.index(item.round) for item in state.items]
    assert places == sorted(places)
    for item in state.items:
        if item.after is not None:
            before = state.item(item.after)
            assert item.after == item.number - 1
            assert before.outcome in (PASSED, MISSED)
            assert item.says


@settings(max_examples=60, deadline=None)
@given(interviews)
def test_nothing_is_begun_that_cannot_nearly_be_done_in_the_time(
    drawn: tuple[str, int, int, int, float],
):
    role, minutes, seed, luck, pace = drawn
    chance = Random(luck)
    state, _ = sit(role, minutes, seed, lambda n: chance.choice([PASSED, MISSED]), pace)
    for item in state.items:
        assert item.at + 0.7 * item.par <= minutes * 60 + 1e-6


@pytest.mark.parametrize("role", roles.ROLES)
@pytest.mark.parametrize("minutes", [15, 30, 45, 60, 90])
def test_at_the_pace_of_par_every_round_of_the_agenda_is_reached(role: str, minutes: int):
    for seed in range(5):
        state, used = sit(role, minutes, seed, lambda n: PASSED, 0.9)
        reached = {item.round for item in state.items}
        assert {part.name for part, _ in roles.agenda(minutes)} == reached
        assert used >= 0.6 * minutes * 60


def test_the_same_answers_and_seed_ask_the_same_and_another_seed_something_else():
    def questions(seed: int) -> list[str]:
        state, _ = sit("inference", 60, seed, lambda n: PASSED if n % 3 else MISSED)
        return [item.question for item in state.items]

    assert questions(4) == questions(4)
    assert len({tuple(questions(seed)) for seed in range(12)}) > 3


def test_an_early_pass_raises_the_next_level_and_an_early_miss_lowers_it():
    def mean_level(first: str) -> float:
        levels = []
        for seed in range(30):
            state = State("x", "inference", 60, seed, WHEN)
            used = 0.0
            for _ in range(8):
                step = next_step(state, BANK, used)
                assert step is not None
                if state.items and step.round != state.items[0].round:
                    levels.append(BANK[step.question]["level"])
                    break
                state, used = answer(state, step, first, used, 0.9)
        return sum(levels) / len(levels)

    assert mean_level(PASSED) > mean_level(MISSED)


@pytest.mark.parametrize("role", roles.ROLES)
def test_who_has_the_time_is_warmed_up_by_talk_and_is_asked_no_mask_for_systems_arithmetic(
    role: str,
):
    for seed in range(6):
        state, _ = sit(role, 45, seed, lambda n: PASSED)
        assert BANK[state.items[0].question]["kind"] == "explain"
        asked = [i for i in state.items if i.round == "systems" and i.after is None]
        topics = {BANK[item.question]["topic"] for item in asked}
        assert topics <= set(roles.ARITHMETIC.topics)


def test_the_level_goes_up_by_a_clean_pass_and_down_by_a_miss_within_its_bounds():
    state, used = State("x", "inference", 90, 1, WHEN), 0.0
    step = Step("causal-mha", "code", 900.0)
    for outcome, level in (
        (PASSED, 3), (PASSED, 4), (PASSED, 4), (MISSED, 3), (SKIPPED, 3), (MISSED, 2), (MISSED, 1),
        (MISSED, 1),
    ):  # fmt: skip
        state, used = answer(state, step, outcome, used, 0.5)
        assert plan.target_level(state.items) == level, outcome


def test_code_escalates_in_one_file_as_long_as_it_passes_and_there_is_time():
    state, _ = sit("inference", 90, 1, lambda n: PASSED, 0.6)
    code = [item for item in state.items if item.round == "code" and item.file]
    ladder = [item.question for item in code]
    assert ladder[:3] == ["causal-mha", "gqa", "cached-gqa"]
    assert ladder[3:4] == ["flash-attention"]
    assert {item.file for item in code} == {"causal-mha"}


def test_a_miss_is_probed_by_a_question_on_the_very_mistake():
    state = State("x", "inference", 45, 1, WHEN)
    used = 0.0
    while (step := next_step(state, BANK, used)) is not None and step.round != "code":
        state, used = answer(state, step, SKIPPED, used, 0.3)
    assert step is not None
    assert step.question == "causal-mha"
    wanted = {
        "softmax-over-queries": "choice-softmax-axis",
        "causal-one-ahead": "choice-causal-leak",
        "scale-by-model-width": "derive-sqrt-dk",
    }
    for mistake, question in wanted.items():
        bank = {i: q for i, q in BANK.items() if i not in {k.question for k in state.items[:-1]}}
        alone = State("x", "inference", 45, 1, WHEN)
        missed, _ = answer(alone, step, MISSED, used, 0.5, (mistake,))
        probe = next_step(missed, bank | {step.question: BANK[step.question]}, used + 300)
        assert probe is not None
        assert (probe.question, probe.after) == (question, 1), mistake


def test_a_bank_of_one_question_is_asked_about_and_no_more():
    bank = {"kv-cache-size": BANK["kv-cache-size"]}
    state, _ = sit("inference", 45, 1, lambda n: PASSED, bank=bank)
    assert [item.question for item in state.items] == ["kv-cache-size"]
    assert next_step(State("x", "kernel", 45, 1, WHEN), {}, 0.0) is None
