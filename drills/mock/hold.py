"""Holding an interview: who answers, where, with which grader, and what happens at its end."""

from __future__ import annotations

import os
import sys

from drills.app import App
from drills.ask import Said
from drills.mock.interviewer import Interviewer
from drills.mock.record import Record
from drills.mock.state import State
from drills.mock.timer import Timer
from drills.mock.typists import Interviewee, Left, Plain, Scripted
from drills.screen import console
from drills.screen import interview as screen


def hold(app: App, state: State, script: Interviewee | None) -> bool:
    """Hold the interview from where `state` is, with `script` or the person here; True once it is
    over and what no rule decides was judged, False where the person left. Raises
    KeyboardInterrupt."""
    from grader.answers.beside import Beside
    from grader.session import Grader

    record = Record(app, state.id)
    timer = Timer(state.minutes * 60.0, record.seconds(), record.clock_file)
    person = script or _person(timer)
    if not state.ended:
        screen.print_opening(state, resumed=bool(state.items))
    with Grader() as grader, Beside() as judge:
        interviewer = Interviewer(app, record, timer, person, grader, judge)
        if person.interactive:
            grader.start()
            judge.start()
        return _in_person(interviewer)


def _person(timer: Timer) -> Interviewee:
    if not (sys.stdin.isatty() and console.out().is_terminal):
        return Scripted(sys.stdin)
    if os.environ.get("TERM", "dumb").lower() in ("dumb", "unknown", ""):
        return Plain(timer)
    from drills.mock.desk import Desk

    return Desk(timer)


def _in_person(interviewer: Interviewer) -> bool:
    """The interview, in a thread of its own where the person types on the full terminal."""
    from drills.mock.desk import Desk

    over: list[bool] = []

    def work() -> None:
        over.append(interviewer.hold())
        if over[0] and interviewer.person.interactive:
            _judge(interviewer)

    if isinstance(interviewer.person, Desk):
        interviewer.person.converse(work)
    else:
        work()
    return over[0]


def _judge(interviewer: Interviewer) -> None:
    """The clock stands: the person says which of the undecided points an explanation made."""
    from drills import schedule
    from drills.in_place import judge_points
    from grader import answers
    from grader.report import Report

    app, record, person = interviewer.app, interviewer.record, interviewer.person
    for item in record.state().items:
        kept = app.store.attempt(item.tries[-1].attempt) if item.tries else None
        question = app.index.questions.get(item.question)
        if kept is None or question is None or item.said or item.best is None:
            continue
        if item.best.verdict != "needs_review":
            continue
        screen.print_judging(item, question["title"], kept[1])
        report = Report.from_json(kept[0])
        try:
            said = judge_points(report, person)
        except (Said, Left):
            return
        if said is None:
            return
        report = answers.apply_review(report, said, question)
        passed = report.verdict == "passed"
        rated = (
            schedule.rate_pass(0, item.hints, item.seconds, int(question["minutes"]))
            if passed
            else schedule.rate_told("explain", report.score)
        )
        record.judged(item, report, said, interviewer.timer.used, rated)
