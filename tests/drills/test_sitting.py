from __future__ import annotations

from datetime import timedelta

from facts import START, at, attempt, event, review

from drills.schedule import AGAIN, GOOD
from drills.sitting import current


def test_a_served_problem_is_unfinished_until_it_is_passed():
    served = [event("served", START)]
    assert current([], [], served, at(hours=1)).unfinished
    tried = [attempt("wrong_answer", at(minutes=5))]
    on = current(tried, [], served, at(hours=1))
    assert (on.unfinished, on.failures, on.attempts) == (True, 1, 1)
    passed = [*tried, attempt("passed", at(minutes=9))]
    on = current(passed, [review(GOOD, at(minutes=9))], served, at(hours=1))
    assert (on.unfinished, on.failures, on.rated) == (False, 0, True)


def test_looking_at_a_problem_does_not_begin_it():
    assert not current([], [], [event("shown", START)], at(hours=1)).unfinished


def test_what_follows_a_review_within_hours_is_practice():
    reviews = [review(GOOD, START)]
    later = [attempt("wrong_answer", at(minutes=30))]
    on = current(later, reviews, [event("started", at(minutes=20))], at(hours=1))
    assert on.rated
    assert not on.unfinished
    tomorrow = current(later, reviews, [event("served", at(days=2))], at(days=2, minutes=1))
    assert not tomorrow.rated
    assert tomorrow.unfinished


def test_unreadable_answers_are_no_failures():
    tried = [attempt(v, START) for v in ("invalid", "not_run", "needs_review", "runtime_error")]
    assert current(tried, [], [], at(minutes=1)).failures == 1


def test_hints_count_once_each_and_not_while_practising():
    hints = [event("hint", at(minutes=m), number=n) for m, n in ((1, 1), (2, 2), (3, 2))]
    assert current([], [], hints, at(hours=1)).hints == 2
    practising = current([], [review(GOOD, START)], hints, at(hours=1))
    assert (practising.hints, practising.hints_shown) == (0, 2)


def test_a_skip_puts_the_problem_off_for_a_day():
    facts = [event("served", START), event("skipped", at(minutes=5))]
    assert current([], [], facts, at(hours=1)).put_off_until == at(minutes=5) + timedelta(days=1)
    after = current([], [], facts, at(days=1, hours=1))
    assert (after.put_off_until, after.unfinished) == (None, False)


def test_a_reset_begins_anew_at_once():
    reviews = [review(AGAIN, START)]
    tried = [attempt("wrong_answer", at(minutes=-5))]
    on = current(tried, reviews, [event("reset", at(minutes=10))], at(minutes=20))
    assert (on.rated, on.failures, on.unfinished) == (False, 0, False)


def test_the_pace_is_taken_from_todays_first_look():
    facts = [event("served", at(days=-3)), event("served", START), event("shown", at(minutes=4))]
    assert current([], [], facts, at(minutes=6)).began == START
