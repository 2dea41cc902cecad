"""Sizes are arithmetic over symbols, and nothing else."""

from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from questions.sizes import SizeError, evaluate

SIZES = {"B": 2, "H": 3, "D": 5, "S": 0}


@pytest.mark.parametrize(
    ("expression", "value"),
    [(7, 7), ("H", 3), ("H * D", 15), ("-(B + 1) * D", -15), ("D // B", 2), ("D % B", 1),
     (" B ", 2), ("S - 1", -1), ("2*H*D + B", 32)],
)  # fmt: skip
def test_arithmetic(expression: int | str, value: int) -> None:
    assert evaluate(expression, SIZES) == value


@pytest.mark.parametrize(
    "expression",
    ["X", "H ** D", "H / D", "f(H)", "H.real", "[H]", "1.5", "True", "'a'", "H if B else D",
     "(lambda: 1)()", "", "H D", "H; D", "H\nD", "D // S", "D % S", "H," , "~H", "not H", "H < D",
     "x" * 200, "9" * 5000, "(" * 100, "9999999999 * 9999999999", "__import__('os')"],
)  # fmt: skip
def test_all_else_is_refused_in_a_sentence(expression: str) -> None:
    with pytest.raises(SizeError) as caught:
        evaluate(expression, SIZES)
    assert str(caught.value)


@given(st.text(max_size=60))
def test_no_text_does_more_than_give_a_number_or_be_refused(text: str) -> None:
    with suppress(SizeError):
        assert type(evaluate(text, SIZES)) is int


@given(st.integers(0, 99), st.integers(0, 99), st.integers(1, 99))
def test_values_agree_with_arithmetic(a: int, b: int, c: int) -> None:
    sizes = {"a": a, "b": b, "c": c}
    assert evaluate("(a + b) * c - a // c + b % c", sizes) == (a + b) * c - a // c + b % c
