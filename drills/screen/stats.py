"""The page of `drill stats`: one screen of 24 lines at 80 columns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.text import Text

from drills import clock
from drills.screen import console as look
from drills.screen.listing import bar, beside, table
from drills.screen.markdown import wrap
from drills.screen.safe import one_line

if TYPE_CHECKING:
    from drills.progress import Group, Progress

_MISTAKES_SHOWN = 3
_BESIDES = 28  # columns beside the topics
_BARS_FOR_ALL = 90  # columns from which kinds have a bar too


def print_stats(progress: Progress) -> None:
    console = look.out()
    width = console.width
    done = sum(group.passed for group in progress.topics)
    whole = sum(group.questions for group in progress.topics)
    head = Text(f"{done} of {whole} problems passed", style=look.BOLD)
    head.append(f" · {_practised(progress)}", style="not bold dim")
    told = [head]
    if due := _due(progress):
        told.append(Text(due))
    if progress.recall is not None:
        told.append(Text(_recall(progress), style=look.DIM))
    left = _groups("topic", progress.topics, width, True)
    right = _groups("kind", progress.kinds, width, width >= _BARS_FOR_ALL)
    right += [Text(f" {line}" if line else "", style=look.DIM) for line in _besides(progress)]
    for line in [
        Text(""),
        *(part for text in told for part in wrap(text, width, " ")),
        Text(""),
        *beside(left, right, width, gap=2),
        Text(""),
        *_mistakes(progress, width),
        Text.assemble((" Next  ", look.DIM), ("drill next", look.ACTION)),
    ]:
        console.print(line)


def _practised(progress: Progress) -> str:
    if not progress.attempts:
        return "nothing tried yet"
    days = _count(progress.days, "day")
    streak = f", {progress.streak} in a row" if progress.streak > 1 else ""
    return f"{_count(progress.attempts, 'try')} on {days}{streak} · {_time(progress.seconds)}"


def _count(number: int, noun: str) -> str:
    plural = noun[:-1] + "ies" if noun.endswith("y") and noun != "day" else noun + "s"
    return f"{number:,} {noun if number == 1 else plural}"


def _time(seconds: float) -> str:
    hours = seconds / 3600
    return f"{round(hours):,} hours" if hours >= 1.5 else f"{round(seconds / 60)} min"


def _due(progress: Progress) -> str:
    unfinished = sum(group.unfinished for group in progress.topics)
    parts = [f"{progress.due_now} due now"] if progress.next_due else []
    if unfinished:
        parts.append(f"{unfinished} unfinished")
    if progress.due_soon:
        parts.append(f"{progress.due_soon} {'more ' if progress.due_now else ''}within a week")
    told = ", ".join(parts)
    if progress.next_due and not progress.due_now:
        told += f"; {progress.next_due[0]} is due {progress.next_due[1]}"
    return told


def _recall(progress: Progress) -> str:
    problems = _count(progress.learned, "problem")
    told = f"predicted recall {progress.recall:.0%} of {problems} reviewed"
    if progress.reviews:
        share = progress.kept / progress.reviews
        told = f"recalled in {share:.0%} of {_count(progress.reviews, 'review')}; {told}"
    return told


def _groups(by: str, groups: Sequence[Group], width: int, bars: bool) -> list[Text]:
    """A table of groups; `due` and `recall` are left out while there is nothing to say."""
    due = any(group.due for group in groups)
    recall = any(group.recall is not None for group in groups)
    columns = [f" {by}", *([""] if bars else []), "passed"]
    columns += [*(["recall"] if recall else []), *(["due"] if due else [])]
    rows = []
    for group in groups:
        row: list[str | Text] = [f" {group.name}"]
        if bars:
            row.append(Text(bar(group.passed, group.questions, 8), style=look.GOOD))
        row.append(f"{group.passed}/{group.questions}")
        if recall:
            row.append("" if group.recall is None else f"{group.recall:.0%}")
        if due:
            row.append(Text(str(group.due or ""), style=look.UNSURE))
        rows.append(row)
    return table(columns, rows, width, right=range(2 if bars else 1, len(columns)))


def _besides(progress: Progress) -> list[str]:
    lines = []
    if progress.labs:
        lines.append(f"{_count(progress.labs, 'lab')} measured")
    if progress.interviews:
        last = progress.interviews
        lines.append(f"{_count(last.finished, 'mock interview')}, the last")
        ago = clock.in_words(clock.now() - last.at)
        lines.append(one_line(f"{ago} ago: {last.conclusion}", _BESIDES))
    return ["", *lines] if lines else []


def _mistakes(progress: Progress, width: int) -> list[Text]:
    shown = progress.mistakes[:_MISTAKES_SHOWN]
    rows: list[list[str | Text]] = [
        [Text(" Mistakes" if place == 0 else "", style=look.DIM), f"{times}x", one_line(title, 200)]
        for place, (title, times) in enumerate(shown)
    ]
    return table(("", "", ""), rows, width, right=(1,), shrink=2) if rows else []
