"""The parts of an answer that is no code, each with what was found about it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.text import Text

from drills.screen import console as look
from drills.screen.markdown import render, spans, wrap
from drills.screen.safe import safe

if TYPE_CHECKING:
    from grader.report import Part, Report

NOUNS = {"derive": "steps", "explain": "points", "choice": "options judged rightly"}
_NUMBERED = ("derive", "trace")  # asked for, and asked again, by number
_LETTERS = "abcdefghi"
_SIGNS = {"passed": "✓", "skipped": "–", "needs_review": "?", "partial": "~"}


def colour(verdict: str) -> str:
    if verdict == "passed":
        return look.GOOD
    return look.UNSURE if verdict in ("partial", "needs_review", "not_run") else look.BAD


def part_lines(report: Report, width: int) -> list[Text]:
    """All parts of the report, after an empty line; nothing where there is nothing to say."""
    if len(report.parts) == 1:
        message = report.parts[0].message
        if not message or message == report.summary:
            return []
        return [Text(""), *render(message, width, indent=1)]
    if report.kind == "choice":
        return _options(report.parts, width)
    lines = [Text("")] if report.parts else []
    for number, part in enumerate(report.parts, 1):
        lead = f" {_SIGNS.get(part.verdict, '✗')} "
        if report.kind in _NUMBERED:
            lead += f"{number}. "
        rows = wrap(spans(safe(part.asks or part.id)), width, lead)
        rows[0].stylize(colour(part.verdict), 0, 3)
        lines += rows
        margin = len(lead) if report.kind in _NUMBERED else 5
        if part.given and part.verdict != "passed":
            lines += wrap(Text(f"yours: {safe(part.given)}", style=look.DIM), width, " " * margin)
        if part.message:
            lines += render(part.message, width, indent=margin)
    return lines


def _options(parts: Sequence[Part], width: int) -> list[Text]:
    """The options of a choice. ✓ stands by what holds, ✗ by what was chosen and does not."""
    lines = [Text("")] if parts else []
    for letter, part in zip(_LETTERS, parts, strict=False):
        chosen = part.given == "chosen"
        right = part.verdict == "passed"
        holds = chosen == right
        sign = "✓" if holds else "✗" if chosen else " "
        rows = render(part.asks, width, indent=6)
        lead = Text().append(f" {sign} ", look.GOOD if holds else look.BAD)
        rows[0] = lead.append(f"{letter}) ", look.BOLD) + rows[0][6:]
        told = "your choice" if chosen else "" if right else "missed"
        if told:
            flag = Text(f"  ← {told}", style=look.GOOD if right else look.BAD)
            if rows[-1].cell_len + flag.cell_len <= width:
                rows[-1] += flag
            else:
                rows.append(Text(" " * 4) + flag)
        lines += [*rows, *render(part.message, width, indent=6)]
    return lines
