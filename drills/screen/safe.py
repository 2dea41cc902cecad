"""Text from outside made harmless: a submission's output must not move the cursor or hide text."""

from __future__ import annotations

import re

from grader.characters import is_shown

_UNUSUAL = re.compile(r"[^\n\t -~]")
_MARKS = "[\u0300-\u036f\u0483-\u0489\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f]"
_TOWER = re.compile(f"({_MARKS}{{4}}){_MARKS}+")  # so many on one letter cover the lines around it


def _visible(match: re.Match[str]) -> str:
    if is_shown(match[0]):
        return match[0]
    code = ord(match[0])
    width, letter = (2, "x") if code < 0x100 else (4, "u") if code < 0x10000 else (8, "U")
    return f"\\{letter}{code:0{width}x}"


def safe(text: str) -> str:
    """`text` with every hidden character spelled out (\\x1b), tabs as spaces."""
    shown = _UNUSUAL.sub(_visible, text.replace("\r\n", "\n"))
    return _TOWER.sub(r"\1", shown).expandtabs(4)


def one_line(text: str, width: int) -> str:
    """`text` on one line of at most `width` characters, its cut marked by an ellipsis."""
    flat = " ".join(safe(text).split())
    return flat if len(flat) <= width else flat[: max(1, width - 1)] + "…"
