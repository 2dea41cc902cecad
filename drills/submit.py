"""Grading and remembering: the attempt is in the database before its report is shown."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING

from drills import clock, devices, schedule
from drills.app import App, Question, review
from drills.errors import GRADER_ERROR, NOT_PASSED, PASSED, DrillError
from drills.schedule import Rated
from questions.kinds import all_cases

if TYPE_CHECKING:
    from drills.serving import Served
    from drills.store import Attempt, Event
    from grader.report import Device, Report, Verdict
    from grader.session import Grader


LARGEST_ANSWER = 64 * 1024  # bytes
TELLS_ALL = ("choice", "explain")  # whose report shows the right options, or the points to make


@dataclass(frozen=True)
class Outcome:
    """A graded, recorded submission.

    `due` is when the question comes back, once the sitting is over; `rated` is None where the
    sitting had its review already. `no_hints_left`: all of them were shown. `path` is the file
    that was graded, as seen from here, and `named` whether the learner named it. `again` is what
    grades it anew where that is not `drill grade`.
    """

    report: Report
    rated: Rated | None = None
    due: datetime | None = None
    failures: int = 0
    no_hints_left: bool = False
    path: str = ""
    named: bool = False
    again: str = ""

    @property
    def over(self) -> bool:
        """True where nothing is left to find out: it passed, or its report told the answer."""
        told = self.report.kind in TELLS_ALL and self.report.verdict in ("wrong_answer", "partial")
        return self.report.verdict == "passed" or self.rated is not None or told

    @property
    def exit_code(self) -> int:
        if self.report.verdict == "passed":
            return PASSED
        return GRADER_ERROR if self.report.verdict == "grader_error" else NOT_PASSED


def record(
    app: App,
    question: Question,
    report: Report,
    source: str,
    seconds: float | None = None,
    tell: Callable[[Attempt], Event] | None = None,
) -> Outcome:
    """Commit the attempt, and with a sitting's first pass its review.

    `seconds` is the time taken, where another clock than the sitting's counts it; `tell` makes an
    event of the attempt, committed with it. A fault of the grader is not recorded, nor what was
    not run: they are not the learner's.
    """
    if report.verdict in ("grader_error", "not_run"):
        return Outcome(report)
    from drills.store import Attempt, new_uuid

    question_id = question["id"]
    at = clock.now()
    sitting = app.sitting(question_id)
    if seconds is None and sitting.began:
        seconds = (at - sitting.began).total_seconds()
    if seconds is not None and seconds < 0:  # the clock was set back meanwhile
        seconds = None
    rated = None
    if sitting.rated:
        pass
    elif report.verdict == "passed":
        rated = schedule.rate_pass(
            sitting.failures, sitting.hints, seconds, int(question["minutes"])
        )
    elif question["kind"] in TELLS_ALL and report.verdict in ("wrong_answer", "partial"):
        rated = schedule.rate_told(question["kind"], report.score)
    attempt = Attempt(
        uuid=new_uuid(),
        question=question_id,
        verdict=report.verdict,
        score=report.score,
        seed=report.seed,
        at=at,
        seconds=seconds,
        hints_seen=sitting.hints,
    )
    app.store.record_attempt(
        report.to_json(),
        source,
        attempt,
        review(question_id, at, rated) if rated else None,
        None if tell is None else tell(attempt),
    )
    hinted = sitting.hints_shown >= len(question["hints"])
    outcome = Outcome(report, rated, None, sitting.failures, hinted)
    card = app.store.cards().get(question_id) if outcome.over else None
    return replace(outcome, due=card.due) if card else outcome


def read_answer(data: bytes, served: Served) -> str:
    """An answer that is no code, as text. Raises DrillError (exit 2) where it can be none."""
    if len(data) > LARGEST_ANSWER:
        raise DrillError(f"The answer is longer than {LARGEST_ANSWER // 1024} KiB.")
    try:
        given = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise DrillError("The answer is not text in UTF-8.") from error
    if not given.strip():
        raise DrillError(f"The answer is empty: drill answer {served.id} TEXT")
    return given


def grade_text(app: App, served: Served, text: str) -> Report:
    """Grade an answer that is no code, without recording it."""
    from grader import answers

    return answers.grade_answer(served.question, text, served.seed, app.index.mistakes)


def grade_source(
    app: App,
    grader: Grader,
    question: Question,
    source: bytes,
    seed: int | None,
    filename: str,
    only_case: str | None = None,
    device: Device | None = None,
) -> Report:
    """Grade a file's bytes, without recording it; on the device that fits where none is named."""
    chosen = devices.choose(question, source, device)
    if chosen.lacking:
        raise DrillError(f"Not run: {chosen.lacking}. Next: {chosen.remedy}")
    mistakes = app.index.mistakes
    report = grader.grade(question, source, seed, filename, mistakes, only_case, chosen.device)
    return devices.told(report, source)


def ungraded(question: Question, seed: int | None, verdict: Verdict, summary: str) -> Report:
    """What `--json` prints of a file that was not graded."""
    from grader.report import Report

    return Report(
        question=question["id"],
        kind=question["kind"],
        verdict=verdict,
        score=0.0,
        seed=seed or 0,
        summary=summary,
        revision=question["revision"],
    )


def require_case(question: Question, case_id: str | None) -> None:
    """Raises DrillError (exit 2) for a case that the question does not have."""
    cases = [case["id"] for case in all_cases(question)]
    if case_id is not None and case_id not in cases:
        raise DrillError(f'{question["id"]} has no case "{case_id}", only: {", ".join(cases)}.')


def unrecorded(case_id: str | None) -> str:
    """Why a grade is not in the database: one case alone, or the learner wanted it so."""
    if case_id is not None:
        return f'Only the case "{case_id}" was run, so nothing is recorded.'
    return "As you asked, nothing is recorded."


@contextmanager
def spinner(what: str) -> Iterator[None]:
    """A sign of life on standard error, on a terminal only."""
    from drills.screen.console import err

    if not err().is_terminal or not err().styled:
        yield
        return
    from rich.console import Console

    with Console(stderr=True).status(f" {what} …"):
        yield
