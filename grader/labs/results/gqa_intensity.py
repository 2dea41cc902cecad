"""What comes of a decode step with several numbers of KV heads: FLOP per byte, and time.

4 h S D FLOP in two products over 2 h_kv S D elements of cache: 2 h / (h_kv * bytes of an element).
Source: Ainslie et al. 2023, section 2, on grouped queries; the sum is `reference.counting`'s.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from grader import fit
from grader.labs import asked
from grader.labs.document import Axis, Panel, Result, Series, Table, si
from grader.labs.results.clock import clock
from grader.labs.roof import Roof
from reference.counting import decode_intensity

DTYPES = ("float32", "bfloat16")
TIMED = "float32"
CONTROL = "control"  # the last number of KV heads once more: A/A
Time = tuple[float, float]  # seconds and standard error


@dataclass(frozen=True)
class Measured:
    """The numbers of a run, and what they give."""

    data: Mapping[str, Any]

    @cached_property
    def kv_heads(self) -> list[int]:
        return [int(n) for n in self.data["kv_heads"]]

    @property
    def heads(self) -> int:
        return int(self.data["heads"])

    @cached_property
    def roof(self) -> Roof:
        return Roof.of(self.data["roof"])

    def counted(self, name: str, n_kv_heads: int) -> tuple[int, int]:
        """FLOP and bytes of cache."""
        found = self.data["counted"][name][str(n_kv_heads)]
        return int(found["flops"]), int(found["bytes"])

    def intensity(self, name: str, n_kv_heads: int) -> float:
        """FLOP per byte, as counted."""
        flops, read = self.counted(name, n_kv_heads)
        return flops / read

    def formula(self, name: str, n_kv_heads: int) -> float:
        """FLOP per byte: 2 h / (h_kv * bytes of an element)."""
        return decode_intensity(
            n_heads=self.heads,
            n_kv_heads=n_kv_heads,
            bytes_per_element=self.data["element_bytes"][name],
        )

    def time(self, n_kv_heads: int) -> Time:
        """Of one step, with its standard error."""
        name = str(n_kv_heads)
        return float(self.data["seconds"][name]), float(self.data["standard_errors"][name])

    def cache_bytes(self, n_kv_heads: int) -> int:
        """Of the keys and values that the timed step reads."""
        entries = 2 * n_kv_heads * int(self.data["cache"]) * int(self.data["head_dim"])
        return entries * int(self.data["element_bytes"][TIMED])

    @property
    def control_spread(self) -> float:
        last = self.time(self.kv_heads[-1])[0]
        return fit.control_spread([last], [self.data["seconds"][CONTROL]])

    @property
    def agree(self) -> bool:
        """Whether counts and formula are equal everywhere."""
        return all(
            self.intensity(name, n) == self.formula(name, n)
            for name in DTYPES
            for n in self.kv_heads
        )


def result(data: Mapping[str, Any], whose: str) -> Result:
    """`data` as `grader.labs.gqa_intensity.measure` returns it."""
    found = Measured(data)
    over, cache = int(data["counted_over"]), int(data["cache"])
    few, many = found.kv_heads[0], found.kv_heads[-1]
    faster = found.time(many)[0] / found.time(few)[0]
    return Result(
        "Arithmetic intensity of a decode step",
        {
            "intensity": {
                name: {
                    str(n): {"counted": found.intensity(name, n), "formula": found.formula(name, n)}
                    for n in found.kv_heads
                }
                for name in DTYPES
            },
            "counts_equal_the_formula": found.agree,
            "cache_bytes": {str(n): found.cache_bytes(n) for n in found.kv_heads},
            "ridge_flop_per_byte": found.roof.ridge,
            "control_spread": found.control_spread,
        },
        _table(found),
        _panels(found),
        (
            f"h = {found.heads} query heads of width {data['head_dim']}; counted over {over:,}"
            f" cached tokens (both grow alike), timed over {cache:,} in {TIMED}.",
            clock(data, whose),
        ),
        (
            "FLOP counted over bytes counted " + ("equal" if found.agree else "do NOT equal")
            + " 2h / (h_kv · bytes of an element) in every row.",
            f"From {many} KV heads to {few}, {many // few} times fewer bytes: {faster:.1f} times"
            f" faster. The ridge of this machine is at {found.roof.ridge:.1f} FLOP/byte.",
        ),
        tuple(_questions(found)),
        fit.doubts(found.control_spread),
    )  # fmt: skip


def _table(found: Measured) -> Table:
    wide, narrow = DTYPES
    rows = tuple(
        (
            str(n),
            si(found.counted(wide, n)[0]),
            si(found.counted(wide, n)[1], "B"),
            f"{found.intensity(wide, n):g}",
            f"{found.formula(wide, n):g}",
            f"{found.intensity(narrow, n):g}",
            f"{found.formula(narrow, n):g}",
            si(found.time(n)[0], "s"),
            si(found.cache_bytes(n) / found.time(n)[0], "B/s"),
        )
        for n in found.kv_heads
    )
    columns = ("h_kv", "FLOP", "bytes", "FLOP/B", "2h/4h_kv", "bf16", "2h/2h_kv", "time", "B/s")
    return Table(columns, rows)


def _panels(found: Measured) -> tuple[Panel, Panel]:
    kv_heads = found.kv_heads
    axis = Axis("KV heads h_kv (count)", ticks=tuple(kv_heads))
    ends = [kv_heads[0], kv_heads[-1]]
    counts = [
        Series(name, kv_heads, [found.intensity(name, n) for n in kv_heads]) for name in DTYPES
    ]
    formula = [
        Series(f"2h / ({found.data['element_bytes'][name]} h_kv), h = {found.heads}", ends,
               [found.formula(name, n) for n in ends], line=True)
        for name in DTYPES
    ]  # fmt: skip
    times = [found.time(n) for n in kv_heads]
    roof = found.roof
    # The least time that the two roofs allow, with a bend where they meet.
    one = found.cache_bytes(1), found.formula(TIMED, 1)
    bend = one[1] / roof.ridge
    corners = [ends[0], *([bend] if ends[0] < bend < ends[1] else []), ends[1]]
    floor = [one[0] / roof.bandwidth * max(n, bend) for n in corners]
    return (
        Panel(
            "Arithmetic intensity, counted",
            axis,
            Axis("FLOP per byte of cache"),
            (*counts, *formula),
        ),
        Panel(
            f"Time of a step, {TIMED}",
            axis,
            Axis("time of one step", "s"),
            (
                Series("measured", kv_heads, [t for t, _ in times], [e for _, e in times]),
                Series("least by the roofline", corners, floor, line=True),
            ),
        ),
    )


def _questions(found: Measured) -> list[dict[str, Any]]:
    few, some, many = found.kv_heads
    half = found.intensity("bfloat16", some)
    (slow, slow_error), (fast, fast_error) = found.time(many), found.time(some)
    single = found.intensity(TIMED, few)
    ridge = found.roof.ridge
    return [
        asked.number(
            "half",
            f"h = {found.heads} and {some // 2} KV heads in bfloat16: how many FLOP per byte of"
            f" cache? ({some} are in the table.)",
            2 * half,
            "FLOP/byte",
            f"{some} KV heads have {half:g}: half the bytes for as many FLOP give twice that.",
            computed=True,
        ),
        asked.number(
            "eight-bit",
            f"The cache of {some} KV heads is kept in 8 bits: how many FLOP per byte then, for"
            f" h = {found.heads}?",
            found.data["element_bytes"]["bfloat16"] * half,
            "FLOP/byte",
            f"In bfloat16 it has {half:g}: half the bytes for as many FLOP.",
            computed=True,
        ),
        asked.number(
            "time",
            f"By the measured times, how many times faster is a step with {some} KV heads than one"
            f" with {many}?",
            slow / fast,
            "none",
            f"{many // some} times fewer bytes were read; the rest is what a step costs beside its"
            " reading.",
            slow_error / slow + fast_error / fast,
        ),
        asked.choice(
            "ridge",
            f"In {TIMED} with one KV head, is a step's intensity beyond the ridge of this machine"
            f" ({ridge:.1f} FLOP/byte)?",
            (
                ("Yes: the peak FLOP/s are its bound now.", ""),
                ("No: it is still bound by memory.", ""),
                ("It cannot be told: it hangs on the length of the cache.",
                 "S is in the FLOP and in the bytes, and cancels."),
            ),
            0 if single >= ridge else 1,
            f"It has {single:g} FLOP/byte.",
        ),
    ]  # fmt: skip
