"""What the interviewer says on the terminal. It judges little aloud: the debrief tells the rest."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.text import Text

from drills.mock import timer
from drills.mock.state import Item, State
from drills.screen import console as look
from drills.screen.markdown import render, wrap
from drills.screen.problem import problem_lines
from drills.screen.report import beside, words
from drills.screen.safe import safe

if TYPE_CHECKING:
    from drills.serving import Served
    from grader.report import Report

PROMPT = " > "
_TEXT_WORDS = "hint · skip · repeat · time · pause · quit · end"
_CODE_WORDS = f"run · edit · done · {_TEXT_WORDS}"
_TRACEBACK = 8


def _print(lines: list[Text]) -> None:
    console = look.out()
    for line in lines:
        console.print(line)
    console.stream.flush()


def print_opening(state: State, resumed: bool) -> None:
    width = look.out().width
    head = Text(f" {state.role.capitalize()} interview", style=look.BOLD)
    facts = f"{state.minutes} min · seed {state.seed} · {state.id}"
    lines = [Text(""), *beside(head, Text(facts, style=look.DIM), width)]
    if resumed:
        left = timer.shown(state.minutes * 60 - state.used)
        lines += wrap(Text(f"It goes on where it was left, with {left} on the clock."), width, " ")
    else:
        told = (
            "Answer as you would aloud; think first. The verdicts come at the end, with their "
            "reasons. A hint costs a part of the answer's score, pause stops the clock, quit keeps "
            "the interview for later, end goes straight to the debrief."
        )
        lines += wrap(Text(told), width, " ")
    _print(lines)


def print_item(item: Item, served: Served, left: float, hints: int) -> None:
    width = look.out().width
    head = Text(f" {item.number}. {item.round}", style=look.ACTION)
    clock = f"{timer.shown(left)} left · par {timer.shown(item.par)}"
    lines = [Text(""), *beside(head, Text(clock, style=look.DIM), width)]
    if item.says:
        lines += [Text(""), *render(item.says, width)]
    lines += [Text(""), *problem_lines(served, width)]
    if hints:
        lines += [Text(""), Text(f" Hints so far: {hints}.", style=look.DIM)]
    if item.file:
        from pathlib import Path

        from drills.workspace import near

        entry = served.question["entry"]
        verb = f"Add {entry} to" if item.after and item.says and _carried(item) else "Write it in"
        told = f"{verb} {near(Path(item.file))}; run grades it."
        lines += [Text(""), *wrap(Text(safe(told), style=look.BOLD), width, " ")]
    told = _CODE_WORDS if item.file else _TEXT_WORDS
    lines += [Text(""), *wrap(Text(told, style=look.DIM), width, " "), Text("")]
    _print(lines)


def _carried(item: Item) -> bool:
    """Whether the file was begun for an earlier question."""
    from pathlib import Path

    from drills.workspace import file_name

    return Path(item.file).name != file_name(item.question)


def print_said(message: str) -> None:
    _print([*wrap(Text(safe(message)), look.out().width, " ")])


def print_unread(report: Report) -> None:
    """An answer that could not be read: what to write instead. It is not counted."""
    _print([*render(report.summary, look.out().width), Text("")])


def print_noted(seconds: float, par: float) -> None:
    told = f" Noted: {timer.shown(seconds)}, par {timer.shown(par)}."
    _print([Text(told, style=look.DIM)])


def print_run(report: Report, seconds: float, par: float) -> None:
    """How a run went, as a test suite would say it: which mistake it is, is for the debrief."""
    width = look.out().width
    good = report.verdict == "passed"
    head = Text(f" {words(report.verdict)}", style=look.GOOD if good else look.BAD)
    graded = [check for check in report.checks if check.verdict not in ("skipped", "not_run")]
    right = sum(check.verdict == "passed" for check in graded)
    counted = f" · {right} of {len(graded)} checks" if graded else ""
    lines = [Text(""), head + Text(counted)]
    failed = next((check for check in graded if check.verdict != "passed"), None)
    if failed is not None:
        lines += wrap(Text(f"First to fail: {safe(failed.title or failed.id)}."), width, " ")
    if report.verdict not in ("passed", "wrong_answer") and report.summary:
        lines += render(report.summary, width)
    for row in report.traceback.rstrip().split("\n")[-_TRACEBACK:] if report.traceback else ():
        lines.append(Text(f"   {safe(row)}", style=look.DIM))
    lines.append(Text(f" {timer.shown(seconds)} so far, par {timer.shown(par)}.", style=look.DIM))
    _print([*lines, Text("")])


def print_hint(told: str) -> None:
    head = Text(" Hint, at a price: ", style=look.UNSURE)
    _print([Text(""), head, *render(told, look.out().width), Text("")])


def print_time(clock: timer.Timer, item: Item) -> None:
    spent = timer.shown(clock.used - item.at)
    told = f" {timer.shown(clock.left)} left; {spent} on this, par {timer.shown(item.par)}."
    _print([Text(told)])


def print_words(code: bool) -> None:
    width = look.out().width
    told = f"Type one of: {(_CODE_WORDS if code else _TEXT_WORDS).replace(' · ', ', ')}."
    more = " run FILE grades another file; done goes on with the code as it is." if code else ""
    _print([*wrap(Text(told + more), width, " ")])


def print_judging(item: Item, title: str, given: str) -> None:
    width = look.out().width
    head = Text(f" {item.number}. {title}", style=look.BOLD)
    lines = [Text(""), head, Text(" You said:", style=look.DIM)]
    for row in given.split("\n"):
        lines += wrap(Text(safe(row)), width, "   ")
    _print(lines)
