"""A line at the bottom that the next output takes the place of."""

from __future__ import annotations

import re

from rich.text import Text

from drills.screen import console as look
from drills.screen.safe import one_line, safe

_LEAST = 24  # columns for what goes on


class StatusLine:
    """On standard error. Where the cursor cannot be moved, what happens is told in whole lines and
    the keys only once; where the line is short, without their words."""

    def __init__(self, keys: str) -> None:
        self.keys = keys
        self._shown = False
        self._told = False

    def show(self, time: str, what: str) -> None:
        terminal = look.err()
        if not (terminal.is_terminal and terminal.styled):
            look.say(f" {time}  {what}")
            if self.keys and not self._told:
                look.say(f" {self.keys}")
                self._told = True
            return
        self.clear()
        width = terminal.width - 1  # a full line would wrap, and half of it stay
        keys = self.keys
        room = width - len(time) - len(keys) - 6
        if keys and room < min(len(what), _LEAST):
            keys = " ".join(re.findall(r"\[.\]", keys))
            room = width - len(time) - len(keys) - 6
        line = Text.assemble((f" {time}", look.DIM), f"  {one_line(what, room)}")
        line.append(f"   {keys}", look.DIM)
        line.truncate(width, overflow="ellipsis")
        terminal.stream.write(terminal.rendered(line))
        terminal.stream.flush()
        self._shown = True

    def clear(self) -> None:
        """Before anything else is printed."""
        if self._shown:
            stream = look.err().stream
            stream.write("\r\x1b[2K")
            stream.flush()
            self._shown = False

    def tell(self, time: str, what: str) -> None:
        """A line that stays."""
        self.clear()
        look.say(f" {time}  {safe(what)}")
