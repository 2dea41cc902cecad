"""The pages of a lab: the list, what was measured, its questions and their answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Any

from rich.text import Text

from drills.screen import console as look
from drills.screen.listing import table
from drills.screen.markdown import wrap
from drills.screen.plot import plot
from drills.screen.safe import safe

if TYPE_CHECKING:
    from drills.lab_record import Standing
    from grader.labs import Lab

LETTERS = "abcdefghi"
ORIGINS = {"measured": "Measured", "computed": "Computed", "option": "The right one"}


def print_labs(labs: Mapping[str, Lab], standings: Mapping[str, Standing], questions: int) -> None:
    """Each lab on a line, with how the learner stands; next is what was not run yet."""
    rows = [
        (f" {name}", Text(lab.about), Text(_standing(standings[name], questions), look.DIM))
        for name, lab in labs.items()
    ]
    lines: list[str | Text] = ["", *table(("", "", ""), rows, look.out().width, shrink=1), ""]
    new = [name for name in labs if not standings[name].runs]
    lines.append(_labelled("Next", f"drill lab {(new or list(labs))[0]}"))
    _print(lines)


def _standing(standing: Standing, questions: int) -> str:
    if standing.right is not None:
        return f"best {standing.right} of {questions} right"
    return "measured" if standing.runs else "new"


def print_result(run: Mapping[str, Any], result: Mapping[str, Any]) -> None:
    """The table, what came of it, and the plots; `result` is a `document.Result` as JSON."""
    width = look.out().width
    head = Text(f" {run['lab']}", style=look.BOLD)
    head.append(f"  {result['title']}", style="not bold")
    head.append(f"  seed {run['seed']}", style="not bold dim")
    page: list[str | Text] = ["", *wrap(head, width), ""]
    for sentence in result["conditions"]:
        page += wrap(Text(safe(sentence), style=look.DIM), width, " ")
    if run["isolation"]:
        from drills.screen.report import isolation

        page += isolation(run["isolation"], width)
    columns, rows = result["table"]["columns"], result["table"]["rows"]
    first = [f" {columns[0]}", *columns[1:]]
    cells = [[f" {row[0]}", *row[1:]] for row in rows]
    words = 0 if any(char.isalpha() for row in rows for char in row[0]) else -1
    right = [place for place in range(len(columns)) if place != words]
    page += ["", *table(first, cells, width, right=right), ""]
    for sentence in result["findings"]:
        page += wrap(Text(safe(sentence)), width, " · ")
    for sentence in result["doubts"]:
        page += wrap(Text(safe(sentence), style=look.UNSURE), width, " ! ")
    for panel in result["panels"]:
        page += ["", *plot(panel, width)]
    _print([*page, ""])


def print_files(files: Sequence[Path]) -> None:
    """Where the pictures and the numbers are."""
    from drills.workspace import near

    folder = near(files[0].parent)
    names = ", ".join(path.name for path in files)
    lines = wrap(Text(f"{safe(folder)}: {safe(names)}"), look.out().width, " Wrote ")
    _print(lines)


def print_question(question: Mapping[str, Any], place: int, whole: int) -> None:
    """One question with its options."""
    width = look.out().width
    lines: list[str | Text] = ["", *wrap(Text(question["asks"]), width, f" {place}/{whole}  ")]
    for letter, option in zip(LETTERS, question.get("options", ()), strict=False):
        lines += wrap(Text(option["text"]), width, f"      {letter}) ")
    _print(lines)


def print_graded(graded: Mapping[str, Any]) -> None:
    """Whether an answer is right, what is, and why."""
    width = look.out().width
    passed = graded["verdict"] == "passed"
    sign = Text(" ✓ " if passed else " ✗ ", style=look.GOOD if passed else look.BAD)
    right = f"{ORIGINS[graded['origin']]}: {graded['right'].rstrip('.')}."
    told = {"passed": "Right.", "invalid": f"Not readable. {right}"}.get(graded["verdict"], right)
    lines = wrap(Text(safe(f"{told} {graded['message']}")), width, "   ")
    lines[0] = sign + lines[0][3:]
    _print(lines)


def print_score(right: int, whole: int, where: str, asked: bool) -> None:
    """How many answers were right; the next action, `where` being what --from knows the run by."""
    lines: list[str | Text] = [""]
    if asked:
        lines.append(Text(f" {right} of {whole} right", style=look.BOLD))
    else:
        lines.append(Text(f" {whole} questions on it wait for your answers:", look.DIM))
    action = "drill lab" if right == whole else f"drill lab --from {quote(safe(where))}"
    _print([*lines, _labelled("Next", action)])


def _labelled(label: str, command: str) -> Text:
    return Text.assemble((f" {label}  ", look.DIM), (command, look.ACTION))


def _print(lines: Sequence[str | Text]) -> None:
    console = look.out()
    for line in lines:
        console.print(line)
    console.stream.flush()
