"""Tables as lines of text: columns two spaces apart, nothing else. rich.table costs 5 ms."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rich.text import Text

from drills.screen import console as look

_GAP = 2


def table(
    columns: Sequence[str],
    rows: Iterable[Sequence[str | Text]],
    width: int,
    right: Sequence[int] = (),
    shrink: int = 0,
) -> list[Text]:
    """The lines of a table. Columns numbered in `right` are flush right; where the table is too
    wide, column `shrink` is cut short."""
    cells = [[Text(cell) if isinstance(cell, str) else cell for cell in row] for row in rows]
    heading = [Text(column, style=look.DIM) for column in columns]
    lines = [heading, *cells] if any(columns) else cells
    widths = [max(row[column].cell_len for row in lines) for column in range(len(columns))]
    over = sum(widths) + _GAP * (len(widths) - 1) - width
    if over > 0:
        widths[shrink] = max(8, widths[shrink] - over)
    return [_line(row, widths, right) for row in lines]


def _line(row: Sequence[Text], widths: Sequence[int], right: Sequence[int]) -> Text:
    line = Text()
    for column, (cell, width) in enumerate(zip(row, widths, strict=True)):
        cell = cell.copy()
        cell.truncate(width, overflow="ellipsis")
        space = " " * (width - cell.cell_len)
        if column:
            line.append(" " * _GAP)
        line.append(space if column in right else "")
        line.append_text(cell)
        line.append("" if column in right else space)
    line.rstrip()
    return line


def beside(left: Sequence[Text], right: Sequence[Text], width: int, gap: int = 3) -> list[Text]:
    """Two blocks side by side where they fit, else one below the other, a line between."""
    column = max(line.cell_len for line in left) + gap
    if column + max(line.cell_len for line in right) > width:
        return [*left, Text(), *right]
    lines = []
    for row in range(max(len(left), len(right))):
        line = left[row].copy() if row < len(left) else Text()
        if row < len(right):
            line.append(" " * (column - line.cell_len)).append_text(right[row])
        line.rstrip()
        lines.append(line)
    return lines


def bar(done: int, whole: int, width: int = 10) -> str:
    """A bar of `width` blocks, filled in proportion."""
    filled = 0 if whole == 0 else round(width * done / whole)
    return "█" * filled + "░" * (width - filled)
