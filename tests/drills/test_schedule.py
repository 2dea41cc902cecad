from __future__ import annotations

import json
from datetime import timedelta

import pytest
from facts import START, at, review
from hypothesis import given
from hypothesis import strategies as st

from drills import schedule
from drills.schedule import AGAIN, EASY, GOOD, HARD, rate_pass, rate_told, replay


@pytest.mark.parametrize(
    ("failures", "hints", "seconds", "rating"),
    [
        (0, 0, None, GOOD),  # how long it took is not known
        (0, 0, 299.0, EASY),  # under half of ten minutes
        (0, 0, 301.0, GOOD),
        (1, 0, 60.0, GOOD),  # not at the first try
        (2, 0, 60.0, GOOD),
        (3, 0, 60.0, HARD),
        (0, 1, 60.0, HARD),
    ],
)
def test_a_pass_is_rated_by_failures_hints_and_pace(failures, hints, seconds, rating):
    assert rate_pass(failures, hints, seconds, par_minutes=10).rating == rating


@pytest.mark.parametrize(
    ("kind", "score", "rating"),
    [("choice", 0.9, AGAIN), ("explain", 0.5, AGAIN), ("explain", 0.8, HARD)],
)
def test_an_answer_that_fell_short_is_rated_where_its_report_told_all(kind, score, rating):
    assert rate_told(kind, score).rating == rating


def test_intervals_are_whole_days_and_grow_with_the_rating():
    dues = [replay("rope", [review(r, START)])[0].due - START for r in (AGAIN, HARD, GOOD, EASY)]
    assert dues == sorted(dues)
    assert dues[0] == timedelta(days=1)
    assert dues[3] > dues[2] > dues[0]
    assert all(due.seconds == 0 for due in dues)


def test_passing_when_due_lengthens_the_interval_and_giving_up_shortens_it():
    first = replay("rope", [review(GOOD, START)])[0]
    kept = replay("rope", [review(GOOD, START), review(GOOD, first.due)])[0]
    lost = replay("rope", [review(GOOD, START), review(AGAIN, first.due)])[0]
    assert kept.due - first.due > first.due - START > lost.due - first.due
    assert (kept.reviews, kept.lapses, lost.lapses) == (2, 0, 1)


def test_the_same_reviews_give_the_same_card_each_time():
    reviews = [review(GOOD, START), review(HARD, at(days=2)), review(EASY, at(days=9))]
    assert replay("rope", reviews) == replay("rope", reviews)


@given(
    st.lists(st.tuples(st.integers(1, 4), st.integers(13, 2000)), min_size=1, max_size=6),
    st.integers(0, 4000),
)
def test_predicted_recall_is_what_fsrs_calls_retrievability(
    history: list[tuple[int, int]], hours: int
):
    from fsrs import Card as FsrsCard
    from fsrs import Scheduler

    moment, reviews = START, []
    for rating, gap in history:
        moment += timedelta(hours=gap)
        reviews.append(review(rating, moment))
    card, form = schedule.replay("rope", reviews)
    now = moment + timedelta(hours=hours)
    theirs = Scheduler().get_card_retrievability(FsrsCard.from_dict(json.loads(form)), now)
    assert schedule.recall_at(card.stability, card.last_review, now) == pytest.approx(
        theirs, rel=1e-12
    )
    assert schedule.stabilities(reviews)[-1] == card.stability
