"""Whole screens, one a command: an empty line, the page, the next action, an empty line."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from rich.text import Text

from drills import clock
from drills.screen import console as look
from drills.screen.markdown import render
from drills.screen.problem import problem_lines
from drills.screen.report import next_actions, report_lines
from drills.screen.safe import safe

if TYPE_CHECKING:
    from drills.choose import Standing
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


def print_starter(starter: Starter, advice: str = "", read: str = "") -> None:
    """`advice` stands in for the command to type, where a menu follows; `read` is the command that
    shows the problem, where it was not shown."""
    from drills.workspace import near

    lines = [_labelled("Read", read)] if read else []
    if starter.moved is not None:
        lines.append(Text(f" Your last file is kept as {safe(starter.moved.name)}"))
    verb = "Wrote" if starter.what == "wrote" else "Yours:"
    head = Text().append(f" {verb} {safe(near(starter.path))}", look.BOLD)
    then = Text(advice) if advice else Text("edit it, then:  ").append("drill grade", look.ACTION)
    if head.cell_len + then.cell_len + 3 <= look.out().width:
        lines.append(head + Text("   ") + then)
    else:
        lines += [head, Text(" ") + then]
    _print(["", *lines])


def print_outcome(
    outcome: Outcome, in_place: bool = False, then: tuple[str, str] = ("drill next", "")
) -> None:
    width = look.out().width
    lines = report_lines(outcome, width) + next_actions(outcome, width, in_place, then)
    _print([Text(""), *lines])


def print_hint(
    served: Served, number: int, text: str, typed: tuple[str, str] | None = None
) -> None:
    """`typed` is what brings the next hint here, and the solution; the commands do otherwise."""
    hints = len(served.question["hints"])
    width = look.out().width
    head = Text.assemble((f" Hint {number} of {hints}", look.BOLD), (f"  {served.id}", look.DIM))
    hint, solution = typed or (f"drill hint {served.id}", f"drill solution {served.id}")
    more = hint if number < hints else solution
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


_STATUS_STYLE = {
    "new": look.DIM,
    "due": look.UNSURE,
    "unfinished": look.UNSURE,
    "missed": look.UNSURE,
    "learned": look.GOOD,
    "put off": look.DIM,
}
_COLUMNS = ("", "problem", "kind", "level", "par", "status")
_WIDE, _MIDDLE = 70, 50  # narrower, level and par are left out; still narrower, the kind too


def print_list(rows: Sequence[tuple[dict[str, Any], Standing]], now: datetime) -> None:
    """Topic by topic, in the order in which teaching comes to them."""
    from drills.screen.listing import table

    if not rows:
        look.say("Nothing in the bank fits that.")
        return
    width = look.out().width
    shown = range(6) if width >= _WIDE else (0, 1, 2, 5) if width >= _MIDDLE else (0, 1, 5)
    topics: dict[str, list[tuple[dict[str, Any], Standing]]] = {}
    for question, standing in rows:
        topics.setdefault(question["topic"], []).append((question, standing))
    cells = [
        [_cells(question, standing, now)[column] for column in shown]
        for group in topics.values()
        for question, standing in group
    ]
    names = [_COLUMNS[column] for column in shown]
    right = [place for place, column in enumerate(shown) if column in (3, 4)]
    heading, *lines = table(names, cells, width, right=right, shrink=len(names) - 1)
    page = [heading]
    for topic, group in topics.items():
        page += [Text(f" {topic}", style=look.BOLD), *lines[: len(group)]]
        lines = lines[len(group) :]
    passed = sum(standing.passed for _, standing in rows)
    _print(["", *page, "", Text(f" {passed} of {len(rows)} passed", style=look.DIM)])
    _print([_labelled("Next", "drill next")])


def _cells(question: dict[str, Any], standing: Standing, now: datetime) -> list[Text]:
    status = standing.status
    if status in ("learned", "missed", "put off") and standing.due is not None:
        back = f"back {clock.when(standing.due, now)}"
        status = back if status == "learned" else f"{status}, {back}"
    return [
        Text(" ✓" if standing.passed else "  ", style=look.GOOD),
        Text(question["id"]),
        Text(question["kind"]),
        Text(str(question["level"])),
        Text(f"{question['minutes']} min"),
        Text(status, style=_STATUS_STYLE[standing.status]),
    ]
