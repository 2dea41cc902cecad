"""A plot in characters: points by letters, lines by dots, both axes logarithmic or not.

No point hides another: those of one place stand side by side.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

from rich.text import Text

from drills.screen import console as look
from grader.labs.document import si

MARKS = "ox+*#@"
COLOURS = ("cyan", "magenta", "yellow", "green", "blue", "red")
LINE = "·"
HEIGHT = 14
WIDEST = 80
_LABEL = 12  # columns for what stands by the ticks of y


class Scale:
    """Values of one axis on so many cells, 0 for the smallest."""

    def __init__(self, values: Sequence[float], log: bool, cells: int) -> None:
        self.log, self.cells = log, cells
        places = [self._place(value) for value in values]
        low, high = min(places), max(places)
        room = 0.03 * (high - low) or 0.5
        self.low, self.high = low - room, high + room

    def _place(self, value: float) -> float:
        return math.log10(value) if self.log else value

    def cell(self, value: float) -> int:
        share = (self._place(value) - self.low) / (self.high - self.low)
        return min(self.cells - 1, max(0, int(share * self.cells)))

    def ticks(self) -> list[float]:
        """Round numbers within the range: powers of ten, with 2 and 5 where those are few."""
        return round_numbers(self.low, self.high, self.log)


def round_numbers(low: float, high: float, log: bool) -> list[float]:
    """What an axis from `low` to `high`, on a logarithmic one their logarithms, is marked with."""
    if not log:
        step = 10.0 ** math.floor(math.log10(high - low))
        return [step * n for n in range(math.ceil(low / step), math.floor(high / step) + 1)]
    found: list[float] = []
    for factors in ((1,), (1, 2, 5)):
        decades = range(math.floor(low), math.ceil(high) + 1)
        found = [f * 10.0**n for n in decades for f in factors]
        found = [tick for tick in found if low <= math.log10(tick) <= high]
        if len(found) >= 3:
            break
    return found


def plot(panel: Mapping[str, Any], width: int, height: int = HEIGHT) -> list[Text]:
    """`panel` is a `grader.labs.document.Panel` as JSON. The lines are at most `width` wide."""
    columns = min(width, WIDEST) - _LABEL - 3
    points = [
        (x, y) for one in panel["series"] for x, y in zip(one["x"], one["y"], strict=True) if y > 0
    ]
    if not points:
        return [Text(" nothing to plot", style=look.DIM)]
    across = Scale([x for x, _ in points], panel["x"]["log"], columns)
    up = Scale([y for _, y in points], panel["y"]["log"], height)
    grid: list[list[tuple[str, str]]] = [[(" ", "")] * columns for _ in range(height)]
    taken: dict[int, set[int]] = {row: set() for row in range(height)}  # by points
    coincide = False
    for one in sorted(panel["series"], key=lambda s: not s["line"]):  # points above lines
        mark = _mark(panel, one)
        if one["line"]:
            for column, row in _cells_of_line(one, across, up):
                grid[row][column] = mark
            continue
        for column, row in _cells_of_points(one, across, up):
            nearest = _free(column, taken[row], columns)
            grid[row][nearest] = mark
            taken[row].add(nearest)
            coincide = coincide or nearest != column
    lines = [_title(panel, width)]
    lines += _rows(grid, {up.cell(t): t for t in up.ticks()}, panel["y"]["unit"])
    lines += [*_foot(across, panel["x"]), *_legend(panel, width)]
    if coincide:
        lines.append(Text("   Marks side by side: the points coincide.", style=look.DIM))
    return lines


def _mark(panel: Mapping[str, Any], series: Mapping[str, Any]) -> tuple[str, str]:
    if series["line"]:
        return LINE, look.DIM
    place = [one["label"] for one in panel["series"] if not one["line"]].index(series["label"])
    return MARKS[place % len(MARKS)], COLOURS[place % len(COLOURS)]


def _cells_of_points(one: Mapping[str, Any], across: Scale, up: Scale) -> set[tuple[int, int]]:
    pairs = zip(one["x"], one["y"], strict=True)
    return {(across.cell(x), up.cell(y)) for x, y in pairs if y > 0}


def _free(column: int, taken: set[int], columns: int) -> int:
    """The nearest column that is not taken, to the right where there are two."""
    free = set(range(columns)) - taken
    return min(free, key=lambda one: (abs(one - column), -one), default=column)


def _cells_of_line(one: Mapping[str, Any], across: Scale, up: Scale) -> list[tuple[int, int]]:
    """A dot in each column that the line crosses, straight on these axes."""
    found = []
    ends = list(zip(one["x"], one["y"], strict=True))
    for (x0, y0), (x1, y1) in pairwise(ends):
        left, right = across.cell(x0), across.cell(x1)
        bottom, top = up.cell(y0), up.cell(y1)
        for column in range(left, right + 1):
            share = (column - left) / max(1, right - left)
            found.append((column, round(bottom + share * (top - bottom))))
    return found


def _title(panel: Mapping[str, Any], width: int) -> Text:
    line = Text(f" {panel['title']}", style=look.BOLD)
    line.append(f"   {panel['y']['label']}", style="not bold dim")
    line.truncate(width, overflow="ellipsis")
    return line


def _rows(
    grid: Sequence[Sequence[tuple[str, str]]], ticks: Mapping[int, float], unit: str
) -> list[Text]:
    lines = []
    for row in reversed(range(len(grid))):
        label = si(ticks[row], unit, digits=2) if row in ticks else ""
        line = Text(f"{label:>{_LABEL}} ", style=look.DIM)
        line.append("┤" if label else "│", style=look.DIM)
        for mark, style in grid[row]:
            line.append(mark, style=style or None)
        line.rstrip()
        lines.append(line)
    return lines


def _foot(across: Scale, axis: Mapping[str, Any]) -> list[Text]:
    """The axis, its ticks as far as there is room, and what it is."""
    rule, labels = ["─"] * across.cells, [" "] * (across.cells + _LABEL)
    free = -2
    for tick in axis["ticks"] or across.ticks():
        text = si(tick, axis["unit"])
        at = across.cell(tick)
        start = min(max(0, at + _LABEL - len(text) // 2), len(labels) - len(text))
        if start <= free + 1:
            continue
        rule[at] = "┬"
        labels[start : start + len(text)] = text
        free = start + len(text)
    lead = " " * (_LABEL + 1)
    name = f"{axis['label']:^{across.cells}}".rstrip()
    return [
        Text(f"{lead}└{''.join(rule)}", style=look.DIM),
        Text("  " + "".join(labels).rstrip(), style=look.DIM),
        Text(f"{lead} {name}", style=look.DIM),
    ]


def _legend(panel: Mapping[str, Any], width: int) -> list[Text]:
    lines: list[Text] = []
    for one in panel["series"]:
        mark, style = _mark(panel, one)
        entry = Text().append(f" {mark if mark != LINE else LINE * 3} ", style)
        entry.append(f"{one['label']} ")
        if lines and lines[-1].cell_len + entry.cell_len <= min(width, WIDEST):
            lines[-1].append_text(entry)
        else:
            lines.append(Text("  ").append_text(entry))
    for line in lines:
        line.rstrip()
    return lines
