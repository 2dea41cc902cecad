"""What a lab found, as plain data: numbers, a table, pictures to be drawn, questions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any


@dataclass(frozen=True)
class Axis:
    """`unit` is written with a prefix at each tick (10 ms); "" for bare numbers. `ticks` are where
    the measured sizes are, empty for decades. The scale is logarithmic, but where `log` is not."""

    label: str
    unit: str = ""
    ticks: tuple[float, ...] = ()
    log: bool = True


@dataclass(frozen=True)
class Series:
    """Points, with standard errors of y where there are some; `line`: no points, a line alone."""

    label: str
    x: Sequence[float]
    y: Sequence[float]
    error: Sequence[float] = ()
    line: bool = False


@dataclass(frozen=True)
class Panel:
    """One pair of axes."""

    title: str
    x: Axis
    y: Axis
    series: tuple[Series, ...]


@dataclass(frozen=True)
class Table:
    """Cells as they are shown: three digits or more, as the questions ask for them."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class Result:
    """What comes of one measurement. `derived` are the numbers that follow from the measured ones,
    `conditions` says what was measured and how, `findings` what came of it, `doubts` why the
    numbers may not be trusted; the last three are sentences."""

    title: str
    derived: dict[str, Any]
    table: Table
    panels: tuple[Panel, ...]
    conditions: tuple[str, ...]
    findings: tuple[str, ...]
    questions: tuple[dict[str, Any], ...]
    doubts: tuple[str, ...] = field(default=())

    def to_json(self) -> dict[str, Any]:
        """Lists and dictionaries alone."""
        return asdict(self)


_LARGE = ("", "k", "M", "G", "T", "P")
_SMALL = ("", "m", "µ", "n", "p")


def si(value: float, unit: str = "", digits: int = 3) -> str:
    """`value` to so many digits, with a prefix where it has a unit: 41.2 ms, 70.5 GFLOP/s."""
    if not unit:
        if 1000 <= abs(value) < 1e9:
            return f"{value:,.0f}"
        short = f"{value:.{digits}g}"
        return f"{value:.0e}".replace("e-0", "e-") if 0 < abs(value) < 1e-3 else short
    size, step = abs(value), 0
    while size >= 999.5 and step < len(_LARGE) - 1:
        size, step = size / 1000, step + 1
    while 0 < size < 0.9995 and step > 1 - len(_SMALL):
        size, step = size * 1000, step - 1
    prefix = _LARGE[step] if step >= 0 else _SMALL[-step]
    number = f"{size:.0f}" if size >= 10 ** (digits - 1) else f"{size:.{digits}g}"
    return f"{'-' if value < 0 else ''}{number} {prefix}{unit}"
