"""`{name}` in a question's text stands for a parameter; nothing else is ever evaluated."""

from __future__ import annotations

import re
from collections.abc import Mapping

_FIELD = re.compile(r"\{([A-Za-z_][A-Za-z0-9_]*)\}")


def show(value: object) -> str:
    """A parameter as a person writes it: 32768 -> 32,768; 8.03 -> 8.03; [1, 2] -> [1, 2]."""
    if isinstance(value, bool):
        return str(value)
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return f"{value:,g}" if value < 1e6 else f"{value:,.0f}"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(show(v) for v in value) + "]"
    return str(value)


def fill(text: str, values: Mapping[str, object]) -> str:
    """Put `values` into `text`. A name that is not among them stays as it stands."""
    return _FIELD.sub(lambda m: show(values[m[1]]) if m[1] in values else m[0], text)
