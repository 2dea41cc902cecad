"""The debrief of a mock interview on the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.text import Text

from drills.mock import timer
from drills.mock.scores import MOST, Score
from drills.mock.state import MISSED, PASSED
from drills.screen import console as look
from drills.screen.listing import bar, table
from drills.screen.markdown import render, wrap
from drills.screen.report import beside
from drills.screen.safe import safe

if TYPE_CHECKING:
    from pathlib import Path

    from drills.mock.debrief import Advice, Debrief
    from drills.mock.state import State

_OUTCOMES = {PASSED: look.GOOD, MISSED: look.BAD}
_EVIDENCE = 3  # the page has all of it
_NAME, _LEAD = 20, 40  # columns: of a competency's name, and up to its evidence


def print_debrief(found: Debrief, page: Path | None) -> None:
    """The page; `page` is where the HTML went."""
    from drills.workspace import near

    width = look.out().width
    head = Text(f" {found.role.capitalize()} role · {found.minutes} min", style=look.BOLD)
    facts = f"{found.ended}, after {timer.shown(found.seconds)} · seed {found.seed}"
    lines = [Text(""), *beside(head, Text(facts, style=look.DIM), width), Text("")]
    for score in found.scores:
        lines += _score(score, width)
    lines += [Text(""), *_conclusion(found, width)]
    lines += _transcript(found, width)
    lines += _mistakes(found, width)
    if found.next:
        told = ", ".join(_advice(one) for one in found.next)
        lines += [Text(""), *wrap(Text(told), width, " Next: ", "       ")]
    command = f"drill mock --debrief {found.id}"
    if page is not None:
        lines += [*wrap(Text(safe(near(page))), width, " Page: ", "       ")]
    action = Text.assemble((" Again  ", look.DIM), (command, look.ACTION))
    _print([*lines, Text(""), action])


def _score(score: Score, width: int) -> list[Text]:
    name = f" {score.competency:<{_NAME}}"
    if score.score is None:
        return [Text(f"{name}not seen", style=look.DIM)]
    style = look.GOOD if score.score >= 4 else look.UNSURE if score.score >= 3 else look.BAD
    lead = Text.assemble(name, (bar(score.score, MOST), style), f"  {score.score}/{MOST}")
    gap = " " * (_LEAD - lead.cell_len)
    told = list(score.evidence[:_EVIDENCE])
    if len(score.evidence) > _EVIDENCE:
        told.append(f"and {len(score.evidence) - _EVIDENCE} more")
    rows = wrap(Text("; ".join(safe(e) for e in told)), width, " " * _LEAD)
    rows[0] = lead + Text(gap) + rows[0][_LEAD:]
    return rows


def _conclusion(found: Debrief, width: int) -> list[Text]:
    end = found.conclusion
    told = Text.assemble("A loop would likely say: ", (end.said, look.BOLD))
    if end.strength:
        told.append(f"; strength: {end.strength}")
    if end.worry:
        told.append(f"; worry: {end.worry}")
    return [*wrap(told.append("."), width, " "), *wrap(Text(f"{end.why}.", look.DIM), width, " ")]


def _transcript(found: Debrief, width: int) -> list[Text]:
    """What was asked when, and how long it took; the page has the words too."""
    if not found.answers:
        return []
    rows = [
        (
            f" {timer.shown(answer.at)}",
            answer.round,
            Text(answer.question),
            Text(answer.outcome, _OUTCOMES.get(answer.outcome, look.DIM)),
            f"{timer.shown(answer.seconds)} of {timer.shown(answer.par)}",
        )
        for answer in found.answers
    ]
    names = (" at", "round", "question", "", "took, of par")
    return [Text(""), *table(names, rows, width, right=(0, 4), shrink=2)]


def _mistakes(found: Debrief, width: int) -> list[Text]:
    lines: list[Text] = []
    for answer, title, explanation in found.mistakes:
        lines += [Text(""), *wrap(Text(f"{safe(title)}", look.BOLD), width, " · ", "   ")]
        lines.append(Text(f"   in {answer.question}", look.DIM))
        lines += render(explanation, width, indent=3)
    return lines


def _advice(one: Advice) -> str:
    return f"drill lab {one.what}" if one.lab else f"{one.what} ({one.when})"


def print_left(state: State) -> None:
    left = timer.shown(state.minutes * 60 - state.used)
    told = f"The interview waits, with {left} on the clock."
    if state.ended:
        told = "The interview is over; its debrief waits for your word on what you said."
    look.say(f"{told} Next: drill mock --resume")


def print_interviews(states: list[State]) -> None:
    if not states:
        look.say("No interview was held yet.\nNext: drill mock")
        return
    rows = [
        (
            f" {one.id}",
            f"{one.began.astimezone():%Y-%m-%d %H:%M}",
            one.role,
            f"{one.minutes} min",
            f"{len(one.items)} asked",
            one.ended or f"waits, {timer.shown(one.minutes * 60 - one.used)} left",
        )
        for one in states
    ]
    names = (" id", "begun", "role", "length", "", "")
    _print([Text(""), *table(names, rows, look.out().width, right=(3, 4), shrink=5), Text("")])
    waiting = any(not one.ended for one in states)
    command = "drill mock --resume" if waiting else f"drill mock --debrief {states[-1].id}"
    _print([Text.assemble((" Next  ", look.DIM), (command, look.ACTION))])


def _print(lines: list[Text]) -> None:
    console = look.out()
    for line in lines:
        console.print(line)
