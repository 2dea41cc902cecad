"""The baselines are the references' mathematics: same values, dtypes and gradients."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from mistake_cases import (
    BASELINES,
    GRADED,
    LOOSE,
    baselines_of,
    cases_of,
    differ,
    outputs,
    reference_of,
)
from torch import Tensor

ALL = [(drill, i) for drill, how in BASELINES.items() for i in range(len(how) - 1)]
TORCH_DTYPES = [torch.float32, torch.bfloat16]


@pytest.mark.parametrize(("drill", "index"), ALL)
def test_a_baseline_is_its_reference_in_float64(drill: str, index: int) -> None:
    baseline = baselines_of(drill)[index]
    for args in cases_of(drill, torch.float64):
        expected = outputs(reference_of(drill)(*args))
        assert not differ(outputs(baseline(*args)), expected, LOOSE.get(drill, 1e-10))


@pytest.mark.parametrize("dtype", TORCH_DTYPES, ids=str)
@pytest.mark.parametrize(("drill", "index"), ALL)
def test_a_baseline_keeps_the_dtype_and_stays_near_the_exact_values(
    drill: str, index: int, dtype: torch.dtype
) -> None:
    baseline = baselines_of(drill)[index]
    near = 0.1 if dtype == torch.bfloat16 else 5e-3
    for args in cases_of(drill, dtype):
        out, reference = baseline(*args), reference_of(drill)(*args)
        for mine, its in zip(_parts(out), _parts(reference), strict=True):
            assert mine.dtype == its.dtype
            assert mine.shape == its.shape
        assert not differ(outputs(out), outputs(reference), near)


def _parts(result: Any) -> tuple[Any, ...]:
    return result if isinstance(result, tuple) else (result,)


def _gradients(function: Callable[..., Any], args: tuple[Any, ...]) -> list[Tensor]:
    leaves = [
        a.clone().requires_grad_() if isinstance(a, Tensor) and a.is_floating_point() else a
        for a in args
    ]
    outs = _parts(function(*leaves))
    source = torch.Generator().manual_seed(2)
    torch.autograd.backward(
        outs, [torch.randn(o.shape, generator=source).to(o.dtype) for o in outs]
    )
    return [a.grad for a in leaves if isinstance(a, Tensor) and a.grad is not None]


@pytest.mark.parametrize(("drill", "index"), [(drill, i) for drill, i in ALL if drill in GRADED])
def test_a_baseline_has_the_gradients_of_its_reference(drill: str, index: int) -> None:
    baseline = baselines_of(drill)[index]
    for args in cases_of(drill, torch.float64):
        expected = _gradients(reference_of(drill), args)
        actual = _gradients(baseline, args)
        assert len(actual) == len(expected) > 0
        assert not differ(actual, expected, LOOSE.get(drill, 1e-9))
