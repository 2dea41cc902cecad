"""A problem as it is served."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from rich.text import Text

from drills.screen import console as look
from drills.screen.markdown import render, spans, wrap
from drills.screen.report import beside
from questions.kinds import CODE_KINDS

if TYPE_CHECKING:
    from drills.serving import Served

_LETTERS = "abcdefghi"


def problem_lines(served: Served, width: int, note: str = "") -> list[Text]:
    """Title, what is asked, and what the answer consists of."""
    question = served.question
    facts = f"{question['kind']} · level {question['level']} · par {question['minutes']} min"
    title = Text(" ") + Text(question["title"], style=look.BOLD)
    lines = beside(title, Text(facts, style=look.DIM), width)
    if note:
        lines += wrap(Text(note, style=look.UNSURE), width, " ")
    lines += [Text(""), *render(served.text(question["prompt"]), width)]
    kind = question["kind"]
    if kind in CODE_KINDS:
        table = _arguments(question, width)
        lines += [Text(""), *table] if table else []
    elif kind == "choice":
        lines.append(Text(""))
        for letter, option in zip(_LETTERS, question["options"], strict=False):
            rows = render(served.text(option["text"]), width, indent=5)
            rows[0] = Text.assemble((f"  {letter})", look.BOLD), " ", rows[0][5:])
            lines += rows
    elif served.by_parts and not _numbered(question["prompt"]):
        lines.append(Text(""))
        for number, part in enumerate(served.parts, 1):
            lines += wrap(spans(part["asks"]), width, f"  {number}. ")
    return lines


def _numbered(prompt: str) -> bool:
    return "\n1. " in prompt


def _arguments(question: dict[str, Any], width: int) -> list[Text]:
    rows = [(name, value.get("about")) for name, value in question["inputs"].items()]
    outputs: Iterable[tuple[str, dict[str, Any]]] = question["outputs"].items()
    single = len(question["outputs"]) == 1
    rows += [("returns" if single else name, value.get("about")) for name, value in outputs]
    told = [(name, about) for name, about in rows if about]
    if not told:
        return []
    column = max(len(name) for name, _ in told)
    lines = []
    for name, about in told:
        found = wrap(spans(about), width, f"   {name:<{column}}   ")
        found[0].stylize("bold cyan", 3, 3 + len(name))
        lines += found
    return lines
