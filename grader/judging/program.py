"""A few statements as a program of as few lines as fit the screen."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

MOST = 3
"""Lines: the imports, what the arguments are, the call. What needs more is not shown."""

WIDTHS = (79, 100)
"""The usual screen, and the widest line where that takes more lines."""

_TORCH = re.compile(r"\btorch\.(\w+)")
_FREE = re.compile(r"(\w+) = (?:torch\.)?tensor\(")


def program(
    source: str, seed: int, setup: Sequence[str], last: Sequence[str]
) -> tuple[str, ...] | None:
    """The lines; None where they are more than MOST. `source` imports the learner's function and
    `last` shows the result; random numbers are drawn after `seed`."""
    if sum(map(len, (source, *setup, *last))) > MOST * WIDTHS[-1]:
        return None
    return next((f for f in _forms(source, seed, setup, last) if len(f) <= MOST), None)


def _forms(
    source: str, seed: int, setup: Sequence[str], last: Sequence[str]
) -> Iterator[tuple[str, ...]]:
    seeded = [f"torch.manual_seed({seed})"] * any("torch.rand" in s for s in (*setup, *last))
    body = [*seeded, *setup]
    names = dict.fromkeys(_TORCH.findall("; ".join((*body, *last))))
    bare = ", ".join(sorted(names))
    for width in WIDTHS:
        yield from _fitting([f"import torch; {source}", *body], last, width)
        if names:  # saves its length for every name that comes twice
            whole = [
                f"from torch import {bare}; {source}",
                *(s.replace("torch.", "") for s in body),
            ]
            yield from _fitting(whole, [s.replace("torch.", "") for s in last], width)


def _fitting(
    statements: Sequence[str], last: Sequence[str], width: int
) -> Iterator[tuple[str, ...]]:
    """The result on lines of its own; the imports too, where there is room."""
    everything = [*statements, *last]
    lengths = [len(statement) for statement in everything]
    if max(lengths) > width or sum(lengths) > MOST * width:
        return
    shown = _packed(last, width)
    first = _packed(statements[:2], width)
    if len(first) + len(shown) < MOST:
        yield (*first, *_packed(statements[2:], width), *shown)
    yield (*_packed(statements, width), *shown)
    yield tuple(_packed(everything, width))


def _packed(statements: Sequence[str], width: int) -> list[str]:
    """As many statements on a line as fit, in their order. One that neither draws nor needs
    another goes where there is room."""
    lines: list[str] = []
    lowest = 0
    places: dict[str, int] = {}
    for statement in statements:
        free = _FREE.match(statement)
        first = 0 if free else lowest
        for name, at in places.items():
            if at > first and re.search(rf"\b{name}\b", statement):
                first = at
        for at in range(first, len(lines)):
            if len(lines[at]) + 2 + len(statement) <= width:
                lines[at] += f"; {statement}"
                break
        else:
            at = len(lines)
            lines.append(statement)
        if free:
            places[free[1]] = at
        else:
            lowest = at
    return lines
