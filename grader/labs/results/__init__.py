"""What comes of a lab's numbers: table, pictures, findings and questions, for each lab a module.

A run is plain data, so one of before is read like one of now. No torch here.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from importlib import import_module
from typing import Any

from grader.labs.document import Result


class Damaged(Exception):
    """The numbers of a run are not as a lab writes them."""


def result(run: Mapping[str, Any]) -> Result:
    """`run` has `lab`, a key of LABS; `file`, the name of the learner's file, None for the
    reference; `quick`; and `data`, as the lab's `measure` returns it.

    Raises Damaged.
    """
    module = import_module(f"grader.labs.results.{run['lab'].replace('-', '_')}")
    whose = "the reference" if run["file"] is None else str(run["file"])
    try:
        _require_numbers(run["data"])
        found: Result = module.result(run["data"], whose)
        _require_points(found)
    except (LookupError, TypeError, ValueError, ArithmeticError, AttributeError) as error:
        raise Damaged(str(error)) from error
    if not run["quick"]:
        return found
    rough = "This was a quick run at small sizes, and its numbers are rough."
    return replace(found, doubts=(rough, *found.doubts))


def _require_numbers(value: object) -> None:
    """Raises ValueError for what no measurement gives: text, but for the name of a dtype, and
    numbers that are none."""
    if isinstance(value, dict):
        value = [one for key, one in value.items() if key != "dtype"]
    if isinstance(value, list):
        for one in value:
            _require_numbers(one)
    elif not isinstance(value, (int, float)) or not math.isfinite(value):
        raise ValueError("what should be a number is none")


def _require_points(found: Result) -> None:
    """Raises ValueError where there is a point that no axis has."""
    for panel in found.panels:
        for series in panel.series:
            points = zip(series.x, series.y, strict=True)
            if not all(x > 0 and math.isfinite(y) for x, y in points):
                raise ValueError("a point lies outside its axes")
