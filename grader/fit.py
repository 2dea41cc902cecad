"""Arithmetic of measurements: medians, errors, and straight lines through log-log points."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean, median, stdev

SHARE = 0.1
"""Of the time of a call: where what every call costs is less, the size is fitted."""

BUSY = 0.1
"""Difference of two equal measurements from which the machine counts as busy."""

_NORMAL = 1.4826  # a standard deviation in median absolute deviations, of normal values
_OF_MEDIAN = 1.2533  # the standard error of a median in that of a mean, of normal values


@dataclass(frozen=True)
class Power:
    """y = factor * x ** slope. `error` is the standard error of the slope, None for two points."""

    slope: float
    error: float | None
    factor: float

    def at(self, x: float) -> float:
        return float(self.factor * x**self.slope)


def power(xs: Sequence[float], ys: Sequence[float]) -> Power | None:
    """The least-squares line through (log x, log y), for two or more points with positive values;
    None for fewer.

    The error is the usual one, from the residuals over n - 2 degrees of freedom. Source: any text
    on linear regression, e.g. Montgomery, Peck and Vining, section 2.2.
    """
    points = [(math.log(x), math.log(y)) for x, y in zip(xs, ys, strict=True) if x > 0 and y > 0]
    if len(points) < 2:
        return None
    mean_x, mean_y = fmean(x for x, _ in points), fmean(y for _, y in points)
    square = sum((x - mean_x) ** 2 for x, _ in points)
    slope = sum((x - mean_x) * (y - mean_y) for x, y in points) / square
    rest = sum((y - mean_y - slope * (x - mean_x)) ** 2 for x, y in points)
    free = len(points) - 2
    error = math.sqrt(rest / free / square) if free else None
    return Power(slope, error, math.exp(mean_y - slope * mean_x))


def beyond_overhead(seconds: Sequence[float], overhead: float) -> list[int]:
    """Places of the times, those above zero, of which `overhead` seconds are under a tenth."""
    return [place for place, one in enumerate(seconds) if one > 0 and overhead < SHARE * one]


def mean_and_error(values: Sequence[float]) -> tuple[float, float]:
    """The mean and its standard error; the error of a single value is 0."""
    if len(values) < 2:
        return fmean(values), 0.0
    return fmean(values), stdev(values) / math.sqrt(len(values))


def median_and_error(values: Sequence[float]) -> tuple[float, float]:
    """The median and its standard error, from the median absolute deviation: one slow repetition
    moves neither."""
    middle = median(values)
    deviation = _NORMAL * median(abs(value - middle) for value in values)
    return middle, _OF_MEDIAN * deviation / math.sqrt(len(values))


def control_spread(first: Sequence[float], second: Sequence[float]) -> float:
    """The largest relative difference of two measurements of the same things (A/A)."""
    pairs = zip(first, second, strict=True)
    return max((abs(a - b) / ((a + b) / 2) for a, b in pairs), default=0.0)


def doubts(spread: float) -> tuple[str, ...]:
    """What is to be said where two measurements of the same thing differ by `spread`."""
    if spread <= BUSY:
        return ()
    return (
        f"The machine was too busy: two measurements of the same thing differ by {spread:.0%}"
        " (a tenth is allowed). Close other programs, and measure again.",
    )


def with_error(value: float, error: float | None) -> str:
    """`1.98 ± 0.02`: two decimals, or as many more as the error needs for its first digit."""
    if error is None:
        return f"{value:.2f}"
    digits = 2 if not error else min(5, max(2, math.ceil(-math.log10(error))))
    return f"{value:.{digits}f} ± {error:.{digits}f}"
