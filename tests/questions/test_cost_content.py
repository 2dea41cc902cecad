"""A cost's names, sizes and bounds are checked where they stand."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from bank_texts import CODE, MISTAKES

from questions.content import check
from questions.loader import load_file

Put = Callable[[str, str], Path]

COSTS = """\
costs:
  - id: tiles
    title: no matrix
    measure: work
    sizes: {B: 1, H: 1, T: 8, S: 8, D: 4, D_v: 4}
    grow: {T: 32, S: 32}
    at_most: 8
    instead: Work in tiles
    again:
      above: 5
      sizes: {B: 1, H: 1, T: 16, S: 8, D: 4, D_v: 4}
      grow: {T: 64, S: 32}
      at_most: 6
    outside:
      sizes: {B: 1, H: 1, T: 8, S: 8, D: 4, D_v: 4}
      grow: {T: 64}
      time: 6.5
      bytes: "3 * T * S"
"""


def findings(put: Put, old: str = "", new: str = "") -> list[str]:
    put("mistakes/all.yaml", MISTAKES)
    assert old in COSTS
    path = put("basics/scaled.yaml", CODE + COSTS.replace(old, new))
    return [found.message for found in check(path)]


def test_a_sound_cost_has_no_finding_and_its_defaults(put: Put) -> None:
    assert findings(put) == []
    (cost,) = load_file(put("basics/scaled.yaml", CODE + COSTS)).costs
    assert (cost.required, cost.dtype) == (True, "float32")


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("grow: {T: 64, S: 32}", "grow: {T: 64, X: 32}", "`X` is not among the sizes"),
        ("grow: {T: 64, S: 32}", "grow: {}", "this sharpens the bound on a growth"),
        ("sizes: {B: 1, H: 1, T: 16,", "sizes: {B: 1, H: 1,", "`T`"),
        ("above: 5", "above: 8", "nothing lies between"),
        ("grow: {T: 32, S: 32}", "grow: {T: 32, X: 32}", "`X` is not among the sizes"),
        ("grow: {T: 32, S: 32}", "grow: {T: 12}", "make it at least twice as large"),
        ("at_most: 8", 'at_most: "T * S"', "a number above 1"),
        ("    grow: {T: 32, S: 32}\n    at_most: 8", '    at_most: "T * X"', "`X` in `T * X`"),
        ("    grow: {T: 32, S: 32}\n    at_most: 8", "    at_most: 8.5", "a whole number"),
        ('bytes: "3 * T * S"', 'bytes: "3 * X"', "`X` in `3 * X` is not among the sizes"),
        ('      time: 6.5\n      bytes: "3 * T * S"\n', "", "nothing is bounded"),
        ("      grow: {T: 64}\n", "", "`time` bounds a growth"),
        ("sizes: {B: 1, H: 1, T: 8, S: 8, D: 4, D_v: 4}", "sizes: {B: 1, H: 1}", "`T`"),
        ("at_most: 8", "at_most: 8\n    inputs: {zz: {value: 1}}", "`zz` is no input"),
    ],
)
def test_what_is_wrong_with_a_cost_is_told(put: Put, old: str, new: str, says: str) -> None:
    assert any(says in message for message in findings(put, old, new)), findings(put, old, new)
