"""What comes of the times and the memory of attention against the length S.

Scores are 2 B H S^2 D FLOP (Kaplan et al. 2020, table 1: 2 T d a token and layer), whole attention
is twice that and a softmax over B H S^2 numbers. Tiles change none of this, but what is kept: Dao
et al. 2022, theorem 1.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from grader import fit
from grader.labs import asked
from grader.labs.document import Axis, Panel, Result, Series, Table, si
from grader.labs.results.clock import clock

SERIES = ("scores", "whole", "tiled")
CONTROL = "control"  # the scores once more: A/A
ELEMENT = 4  # bytes of float32
DOUBLED, QUADRUPLED = 2, 4
BETWEEN = 2**1.5
"""Half-way from twice to four times, on the axis that the slopes are of."""


@dataclass(frozen=True)
class Measured:
    """The numbers of a run, and what they give."""

    data: Mapping[str, Any]
    whose: str

    @cached_property
    def sizes(self) -> list[int]:
        return [int(size) for size in self.data["sizes"]]

    @property
    def heads(self) -> int:
        """Batch and heads: what S^2 scores are there times."""
        return int(self.data["batch"]) * int(self.data["heads"])

    @property
    def limit(self) -> int:
        """Bytes."""
        return int(self.data["memory_limit_bytes"])

    @cached_property
    def seconds(self) -> dict[str, list[float]]:
        return {name: list(self.data["seconds"][name]) for name in (*SERIES, CONTROL)}

    @cached_property
    def held(self) -> dict[str, list[int]]:
        """Bytes alive at once, of whole attention and of the tiled one."""
        return {name: list(self.data["held_bytes"][name]) for name in ("whole", "tiled")}

    @cached_property
    def score_bytes(self) -> list[int]:
        return [self.heads * size**2 * ELEMENT for size in self.sizes]

    @cached_property
    def kept(self) -> dict[str, list[int]]:
        """Places of the sizes that are fitted."""
        overhead = self.data["overhead_seconds"]
        return {n: fit.beyond_overhead(self.seconds[n], overhead[n]) for n in SERIES}

    @cached_property
    def lines(self) -> dict[str, fit.Power | None]:
        return {
            name: fit.power([self.sizes[n] for n in kept], [self.seconds[name][n] for n in kept])
            for name, kept in self.kept.items()
        }

    @cached_property
    def control_spread(self) -> float:
        kept = self.kept["scores"]
        first, second = (self.seconds[name] for name in ("scores", CONTROL))
        return fit.control_spread([first[n] for n in kept], [second[n] for n in kept])

    @property
    def end_of_scores(self) -> int:
        """The length at which the scores alone fill the limit."""
        return math.isqrt(self.limit // (self.heads * ELEMENT))

    @property
    def end_of_whole(self) -> int | None:
        """The same by what whole attention held last; None where that does not grow with S^2."""
        if self.growth("whole") <= BETWEEN:
            return None
        return math.floor(self.sizes[-1] * math.sqrt(self.limit / self.held["whole"][-1]))

    def growth(self, name: str) -> float:
        """By what factor the bytes held grow over the last doubling of S."""
        return self.held[name][-1] / max(1, self.held[name][-2])

    @property
    def labels(self) -> dict[str, str]:
        """What the series are called."""
        whole = "whole attention" if self.whose == "the reference" else self.whose
        tiled = f"in tiles of {self.data['tile']} keys"
        return {"scores": "scores q kᵀ", "whole": whole, "tiled": tiled}


def result(data: Mapping[str, Any], whose: str) -> Result:
    """`data` as `grader.labs.quadratic.measure` returns it."""
    found = Measured(data, whose)
    slopes = {
        name: None if line is None else {"slope": line.slope, "standard_error": line.error}
        for name, line in found.lines.items()
    }
    return Result(
        "Attention against the length of the sequence",
        {
            "slopes": slopes,
            "fitted_sizes": {n: [found.sizes[m] for m in kept] for n, kept in found.kept.items()},
            "score_bytes": found.score_bytes,
            "control_spread": found.control_spread,
            "longest": {"scores": found.end_of_scores, "whole": found.end_of_whole},
        },
        _table(found),
        (_time_panel(found), _memory_panel(found)),
        (
            f"B = {data['batch']}, {data['heads']} heads of width {data['head_dim']}, float32;"
            f" whole attention is {whose}.",
            clock(data, whose),
        ),
        tuple(_findings(found)),
        tuple(_questions(found)),
        (*_uncounted(found), *_unmeasured(found), *fit.doubts(found.control_spread)),
    )


def _time(found: Measured, name: str, place: int) -> str:
    """The cell of the table; what is not above the noise of the clock has no time."""
    seconds = found.seconds[name][place]
    return si(seconds, "s") if seconds > 0 else "-"


def _unmeasured(found: Measured) -> list[str]:
    lost = [
        f"{found.labels[name]} at S = {found.sizes[n]:,}"
        for name in SERIES
        for n, one in enumerate(found.seconds[name])
        if one <= 0
    ]
    if not lost:
        return []
    return [f"Left out, since what a call takes was lost in the noise: {', '.join(lost)}."]


def _uncounted(found: Measured) -> list[str]:
    if found.data["held_is_all"]:
        return []
    return [f"{found.whose} computes outside torch, so it holds more bytes than were counted."]


def _table(found: Measured) -> Table:
    rows = [
        (
            f"{size:,}",
            *(_time(found, name, n) for name in SERIES),
            si(found.score_bytes[n], "B"),
            si(found.held["whole"][n], "B"),
            si(found.held["tiled"][n], "B"),
        )
        for n, size in enumerate(found.sizes)
    ]
    columns = ("S", *SERIES, "score bytes", "whole holds", "tiled holds")
    return Table(columns, tuple(rows))


def _length(sizes: Sequence[int]) -> Axis:
    return Axis("sequence length S (tokens)", ticks=tuple(sizes))


def _time_panel(found: Measured) -> Panel:
    errors = found.data["standard_errors"]
    series = []
    for name in SERIES:
        shown = [n for n, one in enumerate(found.seconds[name]) if one > 0]
        xs, ys = [found.sizes[n] for n in shown], [found.seconds[name][n] for n in shown]
        series.append(Series(found.labels[name], xs, ys, [errors[name][n] for n in shown]))
    line = found.lines["scores"]
    if line is not None:
        kept = found.kept["scores"]
        ends = [found.sizes[kept[0]], found.sizes[kept[-1]]]
        label = f"fit of the scores: S^{line.slope:.2f}"
        series.append(Series(label, ends, [line.at(x) for x in ends], line=True))
    return Panel("Time", _length(found.sizes), Axis("time of one call", "s"), tuple(series))


def _memory_panel(found: Measured) -> Panel:
    """Up to where whole attention meets the limit, where the sizes are not those of a quick run."""
    sizes = found.sizes
    last, end = sizes[-1], found.end_of_whole
    beyond = [*sizes, 4 * last] if end is not None and last < end <= 4 * last else sizes
    limit = f"limit of a submission: {_gib(found.limit)}"
    series = [
        Series("scores alone", sizes, found.score_bytes),
        Series(found.labels["whole"], sizes, found.held["whole"]),
        Series(found.labels["tiled"], sizes, found.held["tiled"]),
        Series(limit, [beyond[0], beyond[-1]], [found.limit] * 2, line=True),
    ]
    if beyond is not sizes and end is not None:
        to = Series(f"whole, extended: S = {end:,}", [last, end],
                    [found.held["whole"][-1], found.limit], line=True)  # fmt: skip
        series.append(to)
    return Panel("Memory", _length(beyond), Axis("bytes alive at once", "B"), tuple(series))


def _gib(size: int) -> str:
    return f"{size / 2**30:g} GiB"


def _findings(found: Measured) -> list[str]:
    said = []
    for name, line in found.lines.items():
        label, overhead = found.labels[name], max(0.0, found.data["overhead_seconds"][name])
        if line is None:
            said.append(f"{label}: no slope, for want of sizes with an overhead under a tenth.")
            continue
        least = found.sizes[found.kept[name][0]]
        said.append(
            f"{label}: time grows as S^({fit.with_error(line.slope, line.error)}), fitted from"
            f" S = {least:,} on; a call's overhead is {si(overhead, 's')}."
        )
    said.append(
        f"The scores alone fill {_gib(found.limit)}, what a submission may have, at"
        f" S = {found.end_of_scores:,}."
    )
    if found.end_of_whole is not None:
        said.append(
            f"By what it held at S = {found.sizes[-1]:,}, {found.labels['whole']} does at"
            f" {found.end_of_whole:,}."
        )
    return said


def _questions(found: Measured) -> list[dict[str, Any]]:
    return [_doubling(found), _whole_over_scores(found), _memory_end(found), _doubled(found)]


def _doubling(found: Measured) -> dict[str, Any]:
    line, seconds = found.lines["scores"], found.seconds["scores"]
    theory = (
        " Twice the queries meet twice the keys: S² products of width"
        f" {found.data['head_dim']}, so 4 in theory."
    )
    if line is None:
        before, last = found.sizes[-2:]
        return asked.number(
            "doubling",
            f"From S = {before:,} to {last:,}: by what factor does the time of the score"
            " computation grow?",
            seconds[-1] / seconds[-2],
            "none",
            "No slope could be fitted here." + theory,
            _relative_error(found, "scores", -1) + _relative_error(found, "scores", -2),
        )
    return asked.number(
        "doubling",
        "By the slope fitted to the score computation: by what factor does its time grow when"
        " S doubles?",
        2**line.slope,
        "none",
        f"2^{line.slope:.2f} = {2**line.slope:.2f}." + theory,
        math.log(2) * (line.error or 0.0),  # d(2^s) = 2^s ln 2 ds
    )


def _relative_error(found: Measured, name: str, place: int) -> float:
    return float(found.data["standard_errors"][name][place]) / found.seconds[name][place]


def _whole_over_scores(found: Measured) -> dict[str, Any]:
    return asked.number(
        "whole-over-scores",
        f"At S = {found.sizes[-1]:,}, how many times as long as the score computation does"
        f" {found.labels['whole']} take?",
        found.seconds["whole"][-1] / found.seconds["scores"][-1],
        "none",
        "Counted in FLOP of products it would be 2: what is beyond goes into the softmax, and into"
        " moving S² numbers to and from memory.",
        _relative_error(found, "whole", -1) + _relative_error(found, "scores", -1),
    )


def _memory_end(found: Measured) -> dict[str, Any]:
    return asked.number(
        "memory-end",
        f"With B = {found.data['batch']}, {found.data['heads']} heads and float32: at which S do"
        f" the scores alone fill {_gib(found.limit)}?",
        float(found.end_of_scores),
        "token",
        f"B h S² · {ELEMENT} bytes = {found.limit:,} bytes gives S = {found.end_of_scores:,}.",
        computed=True,
    )


def _doubled(found: Measured) -> dict[str, Any]:
    before, last = found.sizes[-2:]
    grows = {n: QUADRUPLED if found.growth(n) > BETWEEN else DOUBLED for n in ("whole", "tiled")}
    factors = ((2, 2), (4, 2), (2, 4), (4, 4))
    words = {DOUBLED: "about twice", QUADRUPLED: "about four times"}
    seen = ", ".join(f"{n} × {found.growth(n):.2g}" for n in ("whole", "tiled"))
    time = found.seconds["tiled"][-1] / found.seconds["tiled"][-2]
    return asked.choice(
        "doubled",
        f"From S = {before:,} to {last:,}, what becomes of the bytes that are held?",
        [
            (f"{found.labels['whole']}: {words[whole]}; {found.labels['tiled']}: {words[tiled]}.",
             f"Measured: {seen}.")
            for whole, tiled in factors
        ],
        factors.index((grows["whole"], grows["tiled"])),
        f"Tiles keep one block of scores at a time, and do all of the work: their time grew"
        f" {time:.2g} times.",
    )  # fmt: skip
