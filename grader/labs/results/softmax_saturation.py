"""What comes of scores with and without the scale: their spread, and the saturation of a softmax.

For independent parts of mean 0 and variance 1, q . k has variance d_k: Vaswani et al. 2017,
section 3.2.1, footnote 4.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from grader import fit
from grader.labs import asked
from grader.labs.document import Axis, Panel, Result, Series, Table, si

NAMES = ("unscaled", "scaled")
LABELS = {"unscaled": "q kᵀ, unscaled", "scaled": "q kᵀ / √d_k"}
MOST = 0.5
"""Of the weight: a key that has more outweighs all others."""

Measured = dict[str, list[tuple[float, float]]]


def result(data: Mapping[str, Any], whose: str) -> Result:
    """`data` as `grader.labs.softmax_saturation.measure` returns it; nobody's file is measured."""
    widths, keys = [int(width) for width in data["widths"]], int(data["keys"])
    largest = _with_errors(data, "largest_probability")
    spread = _with_errors(data, "score_spread")
    line = fit.power(widths, [mean for mean, _ in spread["unscaled"]])
    astray = 100 * max(abs(one - 1) for one, _ in spread["scaled"])
    if line is None:
        raise ValueError("no two widths have a spread")
    rows = tuple(
        (
            f"{width:,}",
            *(fit.with_error(*spread[name][n]) for name in NAMES),
            *(fit.with_error(*largest[name][n]) for name in NAMES),
        )
        for n, width in enumerate(widths)
    )
    columns = ("d_k", "std unscaled", "std scaled", "max p unscaled", "max p scaled")
    return Result(
        "What 1/sqrt(d_k) does to a softmax",
        {"spread_slope": {"slope": line.slope, "standard_error": line.error}},
        Table(columns, rows),
        _panels(widths, keys, largest, spread),
        (
            f"Queries and keys with parts of mean 0 and variance 1; {data['queries']} queries,"
            f" {keys} keys, {data['draws']} draws; ± is the standard error over the draws.",
        ),
        (
            f"Unscaled, the spread of the scores grows as"
            f" d_k^({fit.with_error(line.slope, line.error)}); scaled it keeps to 1 within"
            f" {si(astray, digits=2)}%, from d_k = {widths[0]} to {widths[-1]:,}.",
            f"At d_k = {widths[-1]:,} one key of {keys} takes {largest['unscaled'][-1][0]:.0%} of"
            f" the weight unscaled, {largest['scaled'][-1][0]:.1%} scaled.",
        ),
        tuple(_questions(widths, largest, spread)),
    )


def _with_errors(data: Mapping[str, Any], name: str) -> Measured:
    return {
        one: list(zip(data[name][one], data[f"{name}_errors"][one], strict=True)) for one in NAMES
    }


def _panels(
    widths: Sequence[int], keys: int, largest: Measured, spread: Measured
) -> tuple[Panel, Panel]:
    axis = Axis("head width d_k (entries)", ticks=tuple(widths))

    def series(found: Measured) -> list[Series]:
        return [
            Series(LABELS[name], widths, [m for m, _ in found[name]], [e for _, e in found[name]])
            for name in NAMES
        ]

    theory = Series("theory: √d_k", widths, [math.sqrt(width) for width in widths], line=True)
    even = Series(f"even weights: 1/{keys}", [widths[0], widths[-1]], [1 / keys] * 2, line=True)
    return (
        Panel("Spread of the scores", axis, Axis("standard deviation"),
              (*series(spread), theory)),
        Panel("Saturation of their softmax", axis, Axis("largest probability of a row, mean"),
              (*series(largest), even)),
    )  # fmt: skip


def _questions(widths: Sequence[int], largest: Measured, spread: Measured) -> list[dict[str, Any]]:
    first, last = widths[0], widths[-1]
    (low, low_error), (high, high_error) = spread["unscaled"][0], spread["unscaled"][-1]
    (sharp, sharp_error), (flat, flat_error) = largest["unscaled"][-1], largest["scaled"][-1]
    return [
        asked.number(
            "spread",
            f"From d_k = {first} to {last:,}, by what factor does the spread of the unscaled scores"
            " grow?",
            high / low,
            "none",
            f"√({last:,} / {first}) = {math.sqrt(last / first):g}: variances add, so the standard"
            " deviation grows with the root of d_k.",
            low_error / low + high_error / high,
        ),
        asked.number(
            "scaled",
            f"What is the standard deviation of the scaled scores at d_k = {last:,}?",
            spread["scaled"][-1][0],
            "none",
            "Near 1, whatever d_k is: this is what the scale is chosen for.",
            spread["scaled"][-1][1] / spread["scaled"][-1][0],
        ),
        asked.number(
            "sharper",
            f"At d_k = {last:,}, how many times larger is the largest probability unscaled than"
            " scaled?",
            sharp / flat,
            "none",
            f"{sharp:.3f} against {flat:.4f}: unscaled, the softmax has nearly chosen one key.",
            sharp_error / sharp + flat_error / flat,
        ),
        _saturated(last, sharp, flat),
    ]


def _saturated(width: int, sharp: float, flat: float) -> dict[str, Any]:
    cases = ((True, False), (False, True), (True, True), (False, False))
    texts = (
        "Of the unscaled scores alone.",
        "Of the scaled scores alone.",
        "Of both.",
        "Of neither.",
    )
    return asked.choice(
        "saturation",
        f"At d_k = {width:,}, in the softmax of which scores does one key take more than half of"
        " the weight, in the mean over the rows?",
        [(text, "") for text in texts],
        cases.index((sharp > MOST, flat > MOST)),
        f"Measured: {sharp:.3f} unscaled, {flat:.4f} scaled. Where p is near 1 the gradient"
        " p (1 - p) vanishes: the softmax is saturated.",
    )
