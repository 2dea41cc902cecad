"""How the times of a run were taken, in a sentence."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from grader.labs.document import si


def clock(data: Mapping[str, Any], whose: str) -> str:
    """`data` has `repetitions`, the fewest and the most that a thing was timed, and
    `unit_seconds`."""
    few, many = data["repetitions"]
    times = f"{many}" if few == many else f"{few} to {many}"
    told = (
        f"Processor time of one thread, median of {times} interleaved repetitions of"
        f" {si(data['unit_seconds'], 's')} or more, with standard errors; freed memory is used"
        " again."
    )
    if whose == "the reference":
        return told
    return f"{told} A file's is read from outside its process, less that of no call at all."
