"""The hand-worked example: right values, and slips that show."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch

from reference import by_hand
from reference.by_hand import Matrix, attention_by_hand

PARTS = ["scores", "scaled", "weights-causal", "output-causal", "output-full"]
SLIPS: list[tuple[str, Callable[..., Matrix]]] = [
    ("scaled", by_hand.scaled_by_width),
    ("scaled", by_hand.scaled_by_multiplying),
    ("weights-causal", by_hand.weights_over_queries),
    ("weights-causal", by_hand.weights_masked_after),
    ("weights-causal", by_hand.weights_unmasked),
    ("weights-causal", by_hand.weights_unscaled),
    ("weights-causal", by_hand.weights_masked_with_zero),
    ("output-causal", by_hand.output_over_queries),
    ("output-causal", by_hand.output_masked_after),
    ("output-causal", by_hand.output_unmasked),
    ("output-causal", by_hand.output_unscaled),
    ("output-full", by_hand.output_full_masked),
    ("output-full", by_hand.output_full_unscaled),
]


def close(a: Matrix, b: Matrix, tolerance: float = 5e-7) -> bool:
    return torch.allclose(
        torch.tensor(a, dtype=torch.float64), torch.tensor(b, dtype=torch.float64),
        rtol=0, atol=tolerance,
    )  # fmt: skip


def test_outputs_are_the_checked_figures() -> None:
    parts = attention_by_hand()
    assert list(parts) == PARTS
    assert close(parts["output-full"], [[3, 4], [3.406673, 4.406673], [3.510470, 4.510470]])
    assert close(parts["output-causal"], [[1, 2], [2.339523, 3.339523], [3.510470, 4.510470]])


def test_each_part_agrees_with_torch() -> None:
    q = torch.tensor(by_hand.QUERIES, dtype=torch.float64)  # (3, 2)
    k = torch.tensor(by_hand.KEYS, dtype=torch.float64)  # (3, 2)
    v = torch.tensor(by_hand.VALUES, dtype=torch.float64)  # (3, 2)
    future = torch.ones(3, 3, dtype=torch.bool).triu(1)  # (3, 3)
    scores = q @ k.T  # (3, 3)
    scaled = scores / 2**0.5  # (3, 3)
    causal = scaled.masked_fill(future, -torch.inf).softmax(-1)  # (3, 3)
    expected = [scores, scaled, causal, causal @ v, scaled.softmax(-1) @ v]
    for part, matrix in zip(PARTS, expected, strict=True):
        assert close(attention_by_hand()[part], matrix.tolist(), 1e-12)


@pytest.mark.parametrize(("part", "slip"), SLIPS)
def test_a_slip_keeps_the_shape_and_moves_well_beyond_what_is_allowed(
    part: str, slip: Callable[..., Matrix]
) -> None:
    right, wrong = attention_by_hand()[part], slip()
    assert [len(row) for row in wrong] == [len(row) for row in right]
    assert not close(right, wrong, 0.05)


@pytest.mark.parametrize("part", PARTS)
def test_slips_of_one_part_differ_from_each_other(part: str) -> None:
    wrong = [slip() for of, slip in SLIPS if of == part]
    for i, one in enumerate(wrong):
        assert not any(close(one, other, 0.01) for other in wrong[:i])


def test_weights_over_queries_sum_to_one_down_the_columns() -> None:
    columns = zip(*by_hand.weights_over_queries(), strict=True)
    assert [sum(column) for column in columns] == pytest.approx([1, 1, 1])
