"""The labs' arithmetic, and what they find at small sizes. Nothing here asserts a speed."""

from __future__ import annotations

import math
import random
from typing import Any

import numpy as np
import pytest
import torch

from grader import fit
from grader.labs import (
    LABS,
    asked,
    gqa_intensity,
    prefill_decode,
    quadratic,
    results,
    softmax_saturation,
    timing,
)
from grader.labs import online_softmax_error as rounding
from grader.labs.document import Result, si
from grader.labs.results.prefill_decode import works
from grader.labs.roof import Roof
from grader.labs.setting import Setting
from reference.counting import decode_intensity

SIZES = [128, 256, 512, 1024, 2048, 4096]


def of(lab: str, data: dict[str, Any]) -> Result:
    return results.result({"lab": lab, "file": None, "quick": False, "data": data})


def quick(seed: int = 7) -> Setting:
    return Setting(seed, True, lambda done, what: None)


@pytest.fixture(scope="module")
def runs() -> dict[str, dict[str, Any]]:
    """What each lab measures of the reference."""
    modules = {
        "quadratic": quadratic,
        "prefill-decode": prefill_decode,
        "gqa-intensity": gqa_intensity,
        "softmax-saturation": softmax_saturation,
        "online-softmax-error": rounding,
    }
    assert set(modules) == set(LABS)
    return {name: module.measure(quick()) for name, module in modules.items()}


def test_the_slope_of_a_power_law_is_found_exactly() -> None:
    line = fit.power(SIZES, [3e-9 * s**2 for s in SIZES])
    assert line is not None
    assert line.slope == pytest.approx(2)
    assert line.error == pytest.approx(0, abs=1e-9)
    assert line.at(8192) == pytest.approx(3e-9 * 8192**2)


def test_the_error_of_a_slope_is_that_of_least_squares() -> None:
    noise = random.Random(3)
    times = [s**1.5 * math.exp(noise.gauss(0, 0.1)) for s in SIZES]
    line = fit.power(SIZES, times)
    assert line is not None
    assert line.error is not None
    x, y = np.log(SIZES), np.log(times)
    (slope, _), covariance = np.polyfit(x, y, 1, cov=True)
    assert line.slope == pytest.approx(slope)
    assert line.error == pytest.approx(math.sqrt(covariance[0, 0]))


def test_the_error_of_a_slope_says_how_far_it_strays() -> None:
    noise = random.Random(5)
    within = 0
    for _ in range(400):
        line = fit.power(SIZES, [s**2 * math.exp(noise.gauss(0, 0.05)) for s in SIZES])
        assert line is not None
        assert line.error is not None
        within += abs(line.slope - 2) < 2.78 * line.error  # t of 4 degrees of freedom, 95%
    assert 0.91 < within / 400 < 0.99


def test_too_few_points_have_no_slope_or_no_error() -> None:
    assert fit.power([128], [1.0]) is None
    assert fit.power([128, 256], [0.0, 1.0]) is None
    two = fit.power([128, 256], [1.0, 4.0])
    assert two is not None
    assert (two.slope, two.error) == (pytest.approx(2), None)


def test_sizes_with_an_overhead_of_a_tenth_are_left_out() -> None:
    overhead = 10e-6
    times = [overhead + 1e-9 * s**2 for s in SIZES]
    kept = fit.beyond_overhead(times, overhead)
    assert [SIZES[n] for n in kept] == [512, 1024, 2048, 4096]
    assert fit.beyond_overhead([100e-6, 101e-6], overhead) == [1]  # a tenth itself is too much
    assert fit.beyond_overhead([-1e-6, 0.0, 1e-6], -1e-4) == [2]  # no time at all is none
    whole = fit.power(SIZES, times)
    cut = fit.power([SIZES[n] for n in kept], [times[n] for n in kept])
    assert whole is not None
    assert cut is not None
    assert abs(cut.slope - 2) < abs(whole.slope - 2)


def test_one_slow_repetition_moves_neither_median_nor_error() -> None:
    times = [1.0, 1.01, 0.99, 1.02, 0.98, 1.0, 1.01]
    middle, error = fit.median_and_error(times)
    slowed = fit.median_and_error([*times[:-1], 50.0])
    assert middle == pytest.approx(1.0, abs=0.02)
    assert slowed == pytest.approx((middle, error), abs=0.02)


def test_the_control_is_the_largest_difference_of_a_thing_from_itself() -> None:
    assert fit.control_spread([1.0, 2.0], [1.0, 2.0]) == 0
    assert fit.control_spread([1.0, 2.0], [1.0, 2.2]) == pytest.approx(0.2 / 2.1)
    assert "too busy" in fit.doubts(0.11)[0]
    assert fit.doubts(0.09) == ()


def test_tasks_are_timed_in_turn_and_as_often_as_asked() -> None:
    order: list[str] = []

    def task(name: str, seconds: float) -> timing.Task:
        def run(times: int) -> float:
            order.append(name)
            return times * seconds

        return run

    tasks = {"short": task("short", 1e-4), "long": task("long", 1.0)}
    rounds: list[None] = []
    found = timing.interleaved(tasks, 3, 2e-3, lambda: rounds.append(None))
    assert {name: len(times) for name, times in found.items()} == {"short": 3, "long": 3}
    assert found["short"] == pytest.approx([1e-4] * 3)
    assert order[4:] == ["short", "long", "long", "short", "short", "long"]
    assert len(rounds) == 3


@pytest.mark.parametrize("n_kv_heads", [1, 2, 8, 32])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float64])
def test_the_counted_intensity_is_the_formulas(n_kv_heads: int, dtype: torch.dtype) -> None:
    flops, read = gqa_intensity.counted(n_kv_heads, 50, 16, dtype)
    assert flops == 4 * 32 * 50 * 16
    assert read == 2 * n_kv_heads * 50 * 16 * dtype.itemsize
    assert flops / read == decode_intensity(
        n_heads=32, n_kv_heads=n_kv_heads, bytes_per_element=dtype.itemsize
    )


def test_the_timed_decode_step_is_grouped_attention() -> None:
    from reference.attention import attention
    from reference.gqa import share_kv_heads

    generator = torch.Generator().manual_seed(1)
    q = torch.randn(2, 8, 1, 16, generator=generator)
    k, v = (torch.randn(2, 2, 9, 16, generator=generator) for _ in range(2))
    expected = attention(q, share_kv_heads(k, 8), share_kv_heads(v, 8))
    torch.testing.assert_close(gqa_intensity.decode_step(q, k, v), expected)


def test_the_scale_keeps_the_softmax_from_saturating(runs: dict[str, dict[str, Any]]) -> None:
    data = runs["softmax-saturation"]
    largest = data["largest_probability"]
    assert largest["unscaled"] == sorted(largest["unscaled"])
    assert largest["unscaled"][-1] > 0.8
    assert max(largest["scaled"]) < 0.05
    slope = of("softmax-saturation", data).derived["spread_slope"]["slope"]
    assert slope == pytest.approx(0.5, abs=0.03)
    assert data["score_spread"]["scaled"] == pytest.approx([1.0] * 4, abs=0.05)


def test_wider_dtypes_and_larger_blocks_round_less(runs: dict[str, dict[str, Any]]) -> None:
    data = runs["online-softmax-error"]
    errors = data["error_against_length"]["blockwise"]
    for wide, narrow in (("float32", "float16"), ("float16", "bfloat16")):
        assert all(a < b for a, b in zip(errors[wide], errors[narrow], strict=True))
    for name in ("float32", "float16", "bfloat16"):
        by_block = data["error_against_block"][name]
        assert by_block == sorted(by_block, reverse=True)
        # One rounding at the least; unit roundoffs are halves of eps.
        assert data["error_against_length"]["full"][name][-1] < 2 * data["unit_roundoff"][name]
    assert errors[rounding.WIDE][-1] < errors["bfloat16"][-1] / 2


def test_memory_is_quadratic_for_whole_attention_and_not_for_tiles(
    runs: dict[str, dict[str, Any]],
) -> None:
    data = runs["quadratic"]
    held = data["held_bytes"]
    derived = of("quadratic", data).derived
    assert derived["score_bytes"] == [4 * data["heads"] * size**2 for size in data["sizes"]]
    assert held["whole"][-1] >= 2 * derived["score_bytes"][-1]
    whole, tiled = (held[name][-1] / held[name][-2] for name in ("whole", "tiled"))
    assert whole > 3.5
    assert tiled < 2.5
    end = derived["longest"]["scores"]
    limit = data["memory_limit_bytes"]
    assert 4 * data["heads"] * end**2 <= limit < 4 * data["heads"] * (end + 1) ** 2


def test_prefill_and_decode_stand_where_they_should(runs: dict[str, dict[str, Any]]) -> None:
    parts = works(32, 64, 1024, 16384, "attention")
    assert parts["prefill-attention"].intensity == 256
    assert parts["decode-attention"].intensity == pytest.approx(0.5, rel=1e-3)
    assert parts["decode-projections"].intensity == pytest.approx(0.5, rel=1e-2)
    roof = Roof(100.0, 20.0)
    assert (roof.ridge, roof.at(1.0), roof.at(50.0)) == (5.0, 20.0, 100.0)
    data = runs["prefill-decode"]
    for name, part in of("prefill-decode", data).derived["parts"].items():
        assert part["intensity"] == pytest.approx(part["flops"] / part["bytes"])
        assert part["flops_per_second"] == pytest.approx(part["flops"] / data["seconds"][name])


def test_numbers_are_read_with_their_units_and_within_what_was_measured() -> None:
    question = asked.number("x", "How many?", 5.0, "FLOP/byte", "Because.", error=0.05)
    assert question["tolerance"] == pytest.approx(0.15)
    for text in ("5 FLOP/byte", "4.3", "5.7 flops per byte"):
        assert asked.grade(question, text)["verdict"] == "passed", text
    for text in ("4.2", "5.8", "2.5 MAC/s"):
        assert asked.grade(question, text)["verdict"] != "passed", text
    assert asked.right_answer(question) == "5 FLOP per byte (within 15%)"


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (0.0412, "s", "41.2 ms"),
        (1.5e-6, "s", "1.5 µs"),
        (0.9999, "s", "1 s"),
        (70.53e9, "FLOP/s", "70.5 GFLOP/s"),
        (268435456, "B", "268 MB"),
        (0.5, "", "0.5"),
        (0.0001, "", "1e-4"),
        (16384, "", "16,384"),
        (0.0, "s", "0 s"),
    ],
)
def test_numbers_are_shown_with_a_prefix(value: float, unit: str, text: str) -> None:
    assert si(value, unit) == text
