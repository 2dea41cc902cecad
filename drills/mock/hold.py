"""Holding an interview: who answers, where, with which grader, and what happens at its end."""

from __future__ import annotations

import os
import sys
import threading
from importlib import import_module
from typing import TYPE_CHECKING

from drills.app import App
from drills.ask import Said
from drills.mock.interviewer import Interviewer
from drills.mock.record import Record
from drills.mock.state import State
from drills.mock.timer import Timer
from drills.mock.typists import Interviewee, Left, Plain, Scripted
from drills.screen import console
from drills.screen import interview as screen

if TYPE_CHECKING:
    from grader.session import Grader

_ANSWERS = ("derive", "compute", "trace", "choice", "explain")


def hold(app: App, state: State, script: Interviewee | None) -> bool:
    """Hold the interview from where `state` is, with `script` or the person here; True once it is
    over and what no rule decides was judged, False where the person left. Raises
    KeyboardInterrupt."""
    from grader.session import Grader

    record = Record(app, state.id)
    timer = Timer(state.minutes * 60.0, record.seconds(), record.clock_file)
    person = script or _person(timer)
    if not state.ended:
        screen.print_opening(state, resumed=bool(state.items))
    with Grader() as grader:
        if not person.interactive:
            return _whole(app, record, timer, person, grader)
        grader.start()
        threading.Thread(target=_import_answers, daemon=True).start()
        return _in_person(app, record, timer, person, grader)


def _person(timer: Timer) -> Interviewee:
    if not (sys.stdin.isatty() and console.out().is_terminal):
        return Scripted(sys.stdin)
    if os.environ.get("TERM", "dumb").lower() in ("dumb", "unknown", ""):
        return Plain(timer)
    from drills.mock.desk import Desk

    return Desk(timer)


def _in_person(app: App, record: Record, timer: Timer, person: Interviewee, grader: Grader) -> bool:
    from drills.mock.desk import Desk

    if not isinstance(person, Desk):
        return _whole(app, record, timer, person, grader)
    over: list[bool] = []

    def work() -> None:
        over.append(_whole(app, record, timer, person, grader))

    person.converse(work)
    return over[0]


def _whole(app: App, record: Record, timer: Timer, person: Interviewee, grader: Grader) -> bool:
    over = Interviewer(app, record, timer, person, grader).hold()
    if over and person.interactive:
        _judge(app, record, timer, person)
    return over


def _judge(app: App, record: Record, timer: Timer, person: Interviewee) -> None:
    """The clock stands: the person says which of the undecided points an explanation made."""
    from drills import schedule
    from drills.in_place import judge_points
    from grader import answers
    from grader.report import Report

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
        record.judged(item, report, said, timer.used, rated)


def _import_answers() -> None:
    """What judges answers takes a second to import: better while the first question is read."""
    for kind in _ANSWERS:
        import_module(f"grader.answers.{kind}")
