"""What comes of the rounding of the blockwise softmax.

Sums of n rounded terms are off by up to n u, u the unit roundoff; terms under u times the sum are
lost whole: Higham, "Accuracy and Stability of Numerical Algorithms", section 4.2.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from grader.labs import asked
from grader.labs.document import Axis, Panel, Result, Series, Table

DTYPES = ("float32", "bfloat16", "float16")
WIDE = "bfloat16, sums in float32"  # of the reference
CARRIED = 2.0
"""Times the error of a single rounding: what is below carries its sums wider than bfloat16."""

Found = tuple[float, float]  # a relative error, and its standard error


@dataclass(frozen=True)
class Measured:
    """The numbers of a run."""

    data: Mapping[str, Any]

    @property
    def lengths(self) -> list[int]:
        return [int(n) for n in self.data["lengths"]]

    @property
    def block(self) -> int:
        """The block size where the length differs."""
        return int(self.data["block_size"])

    @property
    def fixed(self) -> int:
        """The length where the block size differs."""
        return int(self.data["length_of_block_sizes"])

    def by_length(self, way: str, name: str) -> list[Found]:
        """`way` is blockwise or full."""
        means = self.data["error_against_length"][way][name]
        return list(zip(means, self.data["standard_errors_against_length"][way][name], strict=True))

    def by_block(self, name: str) -> list[Found]:
        """Of the blockwise softmax."""
        means = self.data["error_against_block"][name]
        return list(zip(means, self.data["standard_errors_against_block"][name], strict=True))


def result(data: Mapping[str, Any], whose: str) -> Result:
    """`data` as `grader.labs.online_softmax_error.measure` returns it."""
    found = Measured(data)
    last, block = found.lengths[-1], found.block
    columns = ("N", *DTYPES, "full f32", "full bf16", "full f16", "f32 sums")
    shown = [*((way, name) for way in ("blockwise", "full") for name in DTYPES),
             ("blockwise", WIDE)]  # fmt: skip
    rows = tuple(
        (f"{length:,}", *(f"{found.by_length(way, name)[n][0]:.2e}" for way, name in shown))
        for n, length in enumerate(found.lengths)
    )
    off = {name: 100 * found.by_length("blockwise", name)[-1][0] for name in (*DTYPES, WIDE)}
    own = whose != "the reference"
    return Result(
        "Rounding of the blockwise softmax",
        {
            "bfloat16_over_full": found.by_length("blockwise", "bfloat16")[-1][0]
            / found.by_length("full", "bfloat16")[-1][0],
            "bfloat16_over_float16": found.by_length("blockwise", "bfloat16")[-1][0]
            / found.by_length("blockwise", "float16")[-1][0],
        },
        Table(columns, rows),
        _panels(found),
        (
            f"Relative error of l = Σ exp(x - m) against float64 on the same inputs; x of mean 0"
            f" and variance 1, {data['rows']} rows, {data['draws']} draws; blocks of {block}."
            f" Blockwise is {whose}{'' if own else ', its sums in the dtype of x'};"
            " full is one block of all N.",
        ),
        (
            f"At N = {last:,} in blocks of {block}, bfloat16 is off by {off['bfloat16']:.2g}%,"
            f" float16 by {off['float16']:.2g}%, float32 by {off['float32']:.1g}%.",
            f"The reference in bfloat16, but with its sums in float32 (f32 sums), is off by"
            f" {off[WIDE]:.2g}%.",
        ),
        tuple(_questions(found)),
    )


def _panels(found: Measured) -> tuple[Panel, Panel]:
    def series(label: str, xs: Sequence[int], errors: Sequence[Found]) -> Series:
        return Series(label, xs, [m for m, _ in errors], [e for _, e in errors])

    lengths, blocks = found.lengths, [int(size) for size in found.data["block_sizes"]]
    error = Axis("relative error of l")
    return (
        Panel(
            f"Against the row length, in blocks of {found.block}",
            Axis("row length N (entries)", ticks=tuple(lengths)),
            error,
            (
                *(series(name, lengths, found.by_length("blockwise", name)) for name in DTYPES),
                *(series(f"{n}, full", lengths, found.by_length("full", n)) for n in DTYPES),
            ),
        ),
        Panel(
            f"Against the block size, at N = {found.fixed:,}",
            Axis("block size (entries)", ticks=tuple(blocks)),
            error,
            tuple(series(name, blocks, found.by_block(name)) for name in DTYPES),
        ),
    )


def _questions(found: Measured) -> list[dict[str, Any]]:
    last, block, fixed = found.lengths[-1], found.block, found.fixed
    half, half_error = found.by_length("blockwise", "bfloat16")[-1]
    other, other_error = found.by_length("blockwise", "float16")[-1]
    whole, whole_error = found.by_length("full", "bfloat16")[-1]
    joins = -(-fixed // block)
    return [
        asked.number(
            "blocks",
            f"At N = {last:,} in bfloat16, how many times larger is the error in blocks of {block}"
            " than that of one block of all N?",
            half / whole,
            "none",
            "One block is summed in float32 inside torch, and rounded once; "
            + (
                "blockwise, every running sum is rounded to 8 bits."
                if half > CARRIED * whole
                else "the blockwise sums here are carried as wide."
            ),
            half_error / half + whole_error / whole,
        ),
        asked.number(
            "dtypes",
            f"At N = {last:,} in blocks of {block}, how many times larger is bfloat16's error than"
            " float16's?",
            half / other,
            "none",
            "bfloat16 has 8 bits of precision, float16 has 11: 8 times in theory, while no term is"
            " lost whole.",
            half_error / half + other_error / other,
        ),
        asked.number(
            "joins",
            f"How many blocks of {block} does a row of N = {fixed:,} have, that is, how often is"
            " the running sum rounded?",
            float(joins),
            "none",
            f"{fixed:,} / {block} = {joins:,}: larger blocks round less often, which is why the"
            " error falls with the block size.",
            computed=True,
        ),
        _remedy(half, whole, found.by_length("blockwise", WIDE)[-1][0], last, block),
    ]


def _remedy(half: float, whole: float, wide: float, last: int, block: int) -> dict[str, Any]:
    cases = ((False, True), (True, False), (True, True), (False, False))
    texts = (
        "The one whose sums are in float32 alone.",
        "The one as measured alone.",
        "Both.",
        "Neither.",
    )
    return asked.choice(
        "remedy",
        f"x in bfloat16, N = {last:,}, blocks of {block}: as measured, and with sums in float32."
        " Which is off by less than twice as much as one block of all N, rounded once?",
        [(text, "") for text in texts],
        cases.index((half < CARRIED * whole, wide < CARRIED * whole)),
        f"Measured: {half:.2e} and {wide:.2e}, against {whole:.2e}. Kernels keep m, l and the"
        " output in float32 for this reason.",
    )
