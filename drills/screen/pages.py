"""Whole screens, one a command: an empty line, the page, the next action, an empty line."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from rich.text import Text

from drills import clock
from drills.screen import console as look
from drills.screen.markdown import render, wrap
from drills.screen.problem import problem_lines
from drills.screen.report import next_actions, report_lines
from drills.screen.safe import safe

if TYPE_CHECKING:
    from drills.choose import Standing
    from drills.progress import Progress
    from drills.serving import Served
    from drills.submit import Outcome
    from drills.workspace import Starter


def _print(lines: Iterable[str | Text]) -> None:
    console = look.out()
    for line in lines:
        console.print(line)


def print_problem(served: Served, note: str = "", action: str = "") -> None:
    lines = problem_lines(served, look.out().width, note)
    if action:
        lines += [Text(""), _labelled("Next", action)]
    _print([Text(""), *lines])


def _labelled(label: str, command: str) -> Text:
    return Text.assemble((f" {label}  ", look.DIM), (command, look.ACTION))


def print_starter(starter: Starter) -> None:
    lines = []
    if starter.moved is not None:
        lines.append(Text(f" Your last file is kept as {safe(starter.moved.name)}"))
    verb = "Wrote" if starter.what == "wrote" else "Yours"
    where = safe(_near(str(starter.path)))
    lines.append(
        Text.assemble(
            (f" {verb} {where}", look.BOLD), "   edit it, then:  ", ("drill grade", look.ACTION)
        )
    )
    _print(["", *lines])


def _near(path: str) -> str:
    """The shortest way to write `path` from here."""
    import os

    try:
        relative = os.path.relpath(path)
    except (OSError, ValueError):
        return path
    return relative if len(relative) < len(path) and not relative.startswith("..") else path


def print_outcome(outcome: Outcome, heading: bool = True, actions: bool = True) -> None:
    width = look.out().width
    lines = report_lines(outcome, width, heading)
    if actions:
        lines += next_actions(outcome, width)
    _print([Text(""), *lines])


def print_hint(served: Served, number: int, text: str, in_place: bool = False) -> None:
    hints = len(served.question["hints"])
    width = look.out().width
    head = Text.assemble((f" Hint {number} of {hints}", look.BOLD), (f"  {served.id}", look.DIM))
    verb = "hint" if number < hints else "solution"
    more = verb if in_place else f"drill {verb} {served.id}"
    label = "More" if number < hints else "That was the last hint"
    _print([Text(""), head, Text(""), *render(text, width), Text(""), _labelled(label, more)])


def print_solution(served: Served, markdown: str, code: str) -> None:
    width = look.out().width
    title = served.question["title"]
    head = Text.assemble((f" {title}", look.BOLD), (f"  solution of {served.id}", look.DIM))
    lines: list[str | Text] = [Text(""), head, Text("")]
    if code:
        lines += [*_code(code), Text("")]
    lines += render(markdown, width)
    lines += [Text(""), _labelled("Next", "drill next")]
    _print(lines)


def _code(code: str) -> list[Text]:
    code = safe(code)
    if not look.out().coloured:
        return [Text(f"   {line}".rstrip()) for line in code.split("\n")]
    from rich.syntax import Syntax

    lines = Syntax("", "python", theme="ansi_dark").highlight(code).split("\n")
    return [Text("   ") + line for line in lines]


_STATUS_STYLE = {"due": look.UNSURE, "unfinished": look.UNSURE, "learned": look.GOOD}


def print_list(rows: Sequence[tuple[dict[str, Any], Standing]], now: datetime) -> None:
    from drills.screen.listing import table

    if not rows:
        look.say("Nothing in the bank fits that.")
        return
    cells = []
    for question, standing in rows:
        due = clock.when(standing.due, now) if standing.due else ""
        tick = Text("✓", style=look.GOOD) if standing.passed else Text(" ")
        cells.append(
            (
                tick,
                Text(question["id"], style=look.BOLD),
                question["kind"],
                question["topic"],
                f"{question['level']}",
                f"{question['minutes']}'",
                Text(standing.status, style=_STATUS_STYLE.get(standing.status, "")),
                due,
            )
        )
    columns = ("", "problem", "kind", "topic", "lvl", "par", "status", "due")
    passed = sum(standing.passed for _, standing in rows)
    lines = table(columns, cells, look.out().width, right=(4, 5), shrink=3)
    _print(["", *lines, "", Text(f" {passed} of {len(rows)} passed", style=look.DIM)])
    _print([_labelled("Next", "drill next")])


def print_stats(progress: Progress) -> None:
    from drills.screen.listing import bar, table

    width = look.out().width
    whole = sum(t.questions for t in progress.topics)
    passed = sum(t.passed for t in progress.topics)
    head = Text(f" {passed} of {whole} problems passed", style=look.BOLD)
    _print(["", head])
    tries = f"{progress.attempts} tries" if progress.attempts != 1 else "1 try"
    days = f"{progress.days} days" if progress.days != 1 else "1 day"
    streak = f", {progress.streak} in a row" if progress.streak > 1 else ""
    _print([Text(f" {tries} on {days}{streak}", style=look.DIM), ""])
    rows = [
        (
            f" {t.topic}",
            Text(bar(t.passed, t.questions), style=look.GOOD),
            f"{t.passed}/{t.questions}",
            f"{t.due} due" if t.due else "",
        )
        for t in progress.topics
    ]
    _print([*table((" topic", "", "", ""), rows, width, right=(2,)), ""])
    if progress.mistakes:
        _print([Text(" Made most often", style=look.DIM)])
        for title, times in progress.mistakes:
            _print(wrap(Text(f"{safe(title)}"), width, f"   {times}x  "))
        _print([""])
    if progress.next_due:
        question, when = progress.next_due
        _print([Text(f" {question} is due {when}", style=look.DIM)])
    _print([_labelled("Next", "drill next")])
