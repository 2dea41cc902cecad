"""Text from outside made harmless: a submission's output must not move the cursor or hide text."""

from __future__ import annotations

import re

# C0 but tab and newline, DEL, C1, bidirectional and other invisible controls, lone surrogates.
_CONTROL = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ud800-\udfff]"
)


def _visible(match: re.Match[str]) -> str:
    code = ord(match[0])
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"


def safe(text: str) -> str:
    """`text` with every control character spelled out (\\x1b), tabs as spaces."""
    return _CONTROL.sub(_visible, text.replace("\r\n", "\n")).expandtabs(4)


def one_line(text: str, width: int) -> str:
    """`text` on one line of at most `width` characters, its cut marked by an ellipsis."""
    flat = " ".join(safe(text).split())
    return flat if len(flat) <= width else flat[: max(1, width - 1)] + "…"
