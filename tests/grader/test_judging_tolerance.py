"""How far a right answer may lie from the oracle."""

from __future__ import annotations

import torch
from bank import question
from hypothesis import given, settings
from hypothesis import strategies as st
from in_process import factory

from grader.judging.compare import compare, ratios
from grader.judging.grade import grade
from grader.judging.tolerance import allowed


def answer(
    seed: int, rows: int = 4, dtype: torch.dtype = torch.float32
) -> tuple[torch.Tensor, ...]:
    generator = torch.Generator().manual_seed(seed)
    exact = torch.randn(rows, 6, dtype=torch.float64, generator=generator)
    noise = torch.randn(3, rows, 6, dtype=torch.float64, generator=generator)
    return exact, exact + noise * torch.finfo(dtype).eps


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10_000), st.integers(-20, 20))
def test_tolerance_scales_with_the_values(seed: int, power: int) -> None:
    exact, near = answer(seed)
    scale = 2.0**power
    base = allowed(exact, list(near), torch.float32, 16)
    scaled = allowed(scale * exact, list(scale * near), torch.float32, 16)
    torch.testing.assert_close(scaled, scale * base)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10_000), st.sampled_from([torch.float32, torch.bfloat16]))
def test_every_baseline_is_allowed(seed: int, dtype: torch.dtype) -> None:
    exact, near = answer(seed, dtype=dtype)
    bound = allowed(exact, list(near), dtype, 1)
    assert all(compare("out", one, exact, bound) is None for one in near)


def test_float64_is_graded_as_float32() -> None:
    exact, near = answer(0)
    double = allowed(exact, list(near), torch.float64, 4)
    assert torch.equal(double, allowed(exact, list(near), torch.float32, 4))


def test_a_large_row_does_not_excuse_an_error_in_a_small_one() -> None:
    exact, near = answer(1)
    weights = torch.tensor([1e4, 1.0, 1.0, 1.0], dtype=torch.float64)[:, None]
    bound = allowed(exact * weights, list(near * weights), torch.float32, 4)
    assert bound[1:].max() < 1e-3 * bound[0].max()
    wrong = exact * weights
    wrong[1] *= 1.001
    found = compare("out", wrong, exact * weights, bound)
    assert found is not None
    assert set(found.wrong.nonzero()[:, 0].tolist()) == {1}


def test_a_row_where_terms_cancel_gets_its_own_measured_error() -> None:
    exact, near = answer(2)
    exact[0] *= 1e-5  # small by cancellation, and as inexact as the others
    near[:, 0] = exact[0] + (near[:, 1] - exact[1])
    bound = allowed(exact, list(near), torch.float32, 4)
    assert ((near[:, 0] - exact[0]).abs() <= bound[0]).all()


def test_zero_rows_allow_nothing_where_all_agree() -> None:
    exact, near = answer(3)
    exact[2], near[:, 2] = 0.0, 0.0
    assert not allowed(exact, list(near), torch.float32, 4)[2].any()


def test_masks_and_integers_are_exact() -> None:
    mask = torch.tensor([True, False])
    assert not allowed(mask, [], torch.float32, 4).any()
    assert ratios(torch.tensor([True, True]), mask, torch.zeros(2)).tolist() == [0.0, float("inf")]


def test_nan_and_infinity_are_counted_apart_and_expected_ones_must_be_met() -> None:
    inf, nan = float("inf"), float("nan")
    right = torch.tensor([1.0, -inf, 2.0, 3.0], dtype=torch.float64)
    bound = torch.full((4,), 1e-6, dtype=torch.float64)
    assert compare("out", right.clone(), right, bound) is None
    found = compare("out", torch.tensor([nan, inf, 2.0, -inf]), right, bound)
    assert found is not None
    assert (found.nan, found.infinite, found.wrong_entries) == (1, 2, 3)
    assert found.index == (0,)
    assert compare("out", torch.tensor([1.0, -1e30, 2.0, 3.0]), right, bound) is not None


STALLS = """
import torch


def online_softmax(x, block_size):
    m, total = x[..., 0], torch.ones_like(x[..., 0])
    for entry in x[..., 1:].unbind(-1):
        higher = torch.maximum(m, entry)
        total = total * (m - higher).exp() + (entry - higher).exp()
        m = higher
    return m, total
"""


def test_a_sum_that_stalls_in_bfloat16_is_wrong() -> None:
    asked = question("online-softmax")
    for seed in range(3):
        report = grade(asked, b"", seed, "", {}, factory(asked, STALLS))
        wrong = [check.id for check in report.checks if check.verdict == "wrong_answer"]
        assert wrong == ["values/many-alike/bfloat16"]
        assert not report.mistakes
