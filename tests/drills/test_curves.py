from __future__ import annotations

from datetime import timedelta

import pytest
from facts import START, at, attempt, review

from drills import clock, curves, schedule
from drills.store.counts import Occasion

PAR = {"rope": 10}


def passed(moment, seconds=None, question="rope"):
    return attempt("passed", moment, question)._replace(seconds=seconds)


def failed(moment, question="rope"):
    return attempt("wrong_answer", moment, question)


def test_without_attempts_there_is_no_period():
    assert curves.periods([], [], {}, PAR, START) == []


def test_weeks_run_from_the_first_try_to_now_with_the_empty_ones():
    tries = [failed(START), passed(at(minutes=9)), passed(at(days=15))]
    found = curves.periods(tries, [], {}, PAR, at(days=16))
    assert [(p.sittings, p.first_tries) for p in found] == [(1, 0), (0, 0), (1, 1)]
    assert [p.start.weekday() for p in found] == [0, 0, 0]
    assert found[1].pace is None


def test_over_half_a_year_is_told_by_months():
    tries = [passed(START), passed(at(days=190))]
    found = curves.periods(tries, [], {}, PAR, at(days=200))
    assert [p.start.day for p in found] == [1] * len(found)
    assert [p.sittings for p in found] == [1, 0, 0, 0, 0, 0, 1]


def test_one_try_of_a_clock_that_stood_still_does_not_squeeze_the_rest():
    dead = START.replace(year=1970)
    week = [passed(START), passed(at(days=3))]
    whole = curves.periods(week, [], {}, PAR, at(days=5))
    assert curves.periods([passed(dead), *week], [], {}, PAR, at(days=5)) == whole
    assert curves.periods([passed(dead)], [], {}, PAR, START) == []


def test_practice_after_a_pass_and_what_was_not_judged_are_no_first_tries():
    tries = [
        attempt("invalid", START), passed(at(minutes=1)), failed(at(minutes=2)), failed(at(days=1)),
    ]  # fmt: skip
    (week,) = curves.periods(tries, [], {}, PAR, at(days=2))
    assert (week.sittings, week.first_tries) == (2, 1)


def test_pace_is_the_median_of_what_was_passed_and_an_hour_at_most():
    tries = [
        passed(START, 300), failed(at(hours=13)), passed(at(days=2), 1200), passed(at(days=4), 1e6),
    ]  # fmt: skip
    (week,) = curves.periods(tries, [], {}, PAR, at(days=5))
    assert week.pace == pytest.approx(2.0)  # of 0.5, 2 and 6
    (week,) = curves.periods([passed(START, 300, "gone")], [], {}, PAR, at(days=1))
    assert week.pace is None


def test_recall_is_what_was_predicted_at_the_end_of_each_period():
    reviews = [review(3, START), review(3, at(days=8))]
    first, second = curves.periods([passed(START)], reviews, {}, PAR, at(days=10))
    stability, later = schedule.stabilities(reviews)
    end = clock.now().astimezone().replace(
        year=first.start.year, month=first.start.month, day=first.start.day, hour=0, minute=0,
        second=0, microsecond=0,
    ) + timedelta(days=7)  # fmt: skip
    assert first.recall == pytest.approx(schedule.recall_at(stability, START, end))
    gone = [review(1, START, "gone"), *reviews]  # from the bank, as in drill stats
    assert curves.periods([passed(START)], gone, {}, PAR, at(days=10)) == [first, second]
    assert second.recall == pytest.approx(schedule.recall_at(later, at(days=8), at(days=10)))


def test_a_reset_forgets_what_was_learned_until_it_is_learned_again():
    reviews = [review(3, START), review(4, at(days=16))]
    found = curves.periods([passed(START)], reviews, {"rope": [at(days=8)]}, PAR, at(days=17))
    assert [p.recall is None for p in found] == [False, True, False]
    stability = schedule.stabilities(reviews[1:])[0]  # as of a first review
    assert found[-1].recall == pytest.approx(
        schedule.recall_at(stability, at(days=16), at(days=17))
    )


def test_a_mistake_is_gone_after_three_tries_without_it_at_the_same_problems():
    def made(title: str, question: str, **span: float) -> Occasion:
        return Occasion(title, question, clock.to_text(at(**span)))

    occasions = [made("scale", "rope", days=0), made("mask", "gqa", days=1),
                 made("scale", "gqa", days=2), made("axis", "mla", days=2)]  # fmt: skip
    tries = [failed(at(days=3), "rope"), passed(at(days=4), question="gqa"),
             passed(at(days=5), question="mla")]  # fmt: skip
    scale, axis = curves.mistakes(occasions, tries, 2)
    assert (scale.title, scale.tries_since, scale.gone) == ("scale", 2, False)
    assert [day.day for day in scale.days] == [5, 7]
    assert (axis.title, axis.tries_since) == ("axis", 1)
    scale, _ = curves.mistakes(occasions, [*tries, passed(at(days=6))], 2)
    assert scale.gone
