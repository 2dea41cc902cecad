"""The two streams: data on standard output, talk on standard error.

Lines are rich's Text, written here: rich.console would add a quarter to the time of each start.
Colours honour NO_COLOR, FORCE_COLOR and TERM=dumb. Markup is never interpreted, so that square
brackets in an answer stay square brackets.
"""

from __future__ import annotations

import json
import os
import sys
from itertools import pairwise
from typing import TYPE_CHECKING, Any, TextIO

if TYPE_CHECKING:
    from rich.text import Text

WIDEST = 100
USUAL = 80
NARROWEST = 40

BOLD = "bold"
DIM = "dim"
GOOD = "green"
BAD = "red"
UNSURE = "yellow"
ACTION = "cyan"


class Terminal:
    """A stream with what it can show: `styled` bold and dim too, `coloured` also colours."""

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream
        self.is_terminal = stream.isatty()
        forced = os.environ.get("FORCE_COLOR", "") not in ("", "0")
        dumb = os.environ.get("TERM", "").lower() in ("dumb", "unknown")
        self.styled = (self.is_terminal or forced) and not dumb
        self.coloured = self.styled and not os.environ.get("NO_COLOR")
        self.width = max(NARROWEST, min(WIDEST, self._columns()))

    def _columns(self) -> int:
        named = os.environ.get("COLUMNS", "")
        if named.isdecimal() and int(named) > 0:
            return int(named)
        try:
            return os.get_terminal_size(self.stream.fileno()).columns or USUAL
        except (OSError, ValueError):
            return USUAL

    def print(self, line: str | Text = "") -> None:
        """One line, as it is: wrapping is done before, so that a command can be copied whole."""
        shown = line if isinstance(line, str) else self.rendered(line)
        self.stream.write(f"{shown}\n")

    def rendered(self, text: Text) -> str:
        """`text` with the controls that this terminal takes."""
        if not self.styled:
            return text.plain
        from rich.color import ColorSystem
        from rich.style import Style

        plain = text.plain
        ends = {0, len(plain)}
        for span in text.spans:
            ends |= {min(span.start, len(plain)), min(span.end, len(plain))}
        cuts = sorted(ends)
        parts = []
        for start, end in pairwise(cuts):
            named = [text.style, *(s.style for s in text.spans if s.start <= start < s.end)]
            style = Style.combine(Style.parse(str(name)) for name in named)
            if not self.coloured:
                style = style.without_color
            parts.append(style.render(plain[start:end], color_system=ColorSystem.STANDARD))
        return "".join(parts)


def out() -> Terminal:
    """Standard output."""
    return Terminal(sys.stdout)


def err() -> Terminal:
    """Standard error."""
    return Terminal(sys.stderr)


def say(message: str) -> None:
    """A sentence to the learner, on standard error."""
    from drills.screen.safe import safe

    sys.stdout.flush()  # where both are one terminal, what was said first stands first
    print(safe(message), file=sys.stderr, flush=True)


def print_json(data: dict[str, Any], one_line: bool = False) -> None:
    """One JSON object on standard output; ASCII, so that no terminal control gets through."""
    print(json.dumps(data, indent=None if one_line else 1), flush=True)


def on_terminal() -> bool:
    """True where a person sits at both ends."""
    return sys.stdin.isatty() and sys.stdout.isatty()
