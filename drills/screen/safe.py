"""Text from outside made harmless: a submission's output must not move the cursor or hide text."""

from __future__ import annotations

import re

_UNUSUAL = re.compile(r"[^\n\t -~]")
_SPACES = "\u00a0\u202f\u3000"


def _visible(match: re.Match[str]) -> str:
    # Not printable to Python: controls, bidirectional and invisible marks, tags, lone surrogates.
    if match[0].isprintable() or match[0] in _SPACES:
        return match[0]
    code = ord(match[0])
    width, letter = (2, "x") if code < 0x100 else (4, "u") if code < 0x10000 else (8, "U")
    return f"\\{letter}{code:0{width}x}"


def safe(text: str) -> str:
    """`text` with every hidden character spelled out (\\x1b), tabs as spaces."""
    return _UNUSUAL.sub(_visible, text.replace("\r\n", "\n")).expandtabs(4)


def one_line(text: str, width: int) -> str:
    """`text` on one line of at most `width` characters, its cut marked by an ellipsis."""
    flat = " ".join(safe(text).split())
    return flat if len(flat) <= width else flat[: max(1, width - 1)] + "…"
