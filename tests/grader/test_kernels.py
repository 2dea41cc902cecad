"""Kernels: the ladder of speeds, growth, strides, the interpreter, and the devices left out."""

from __future__ import annotations

import importlib.util
import random
from collections.abc import Iterator
from typing import Any

import pytest
from bank import question

from grader.judging.kernels import growth_check, interpreted
from grader.judging.paths import judged as judged_paths
from grader.judging.speed import CONTROLLED, FUSED, NAIVE, YOURS, Race, credible, judged
from grader.report import Growth, Report
from grader.session import Grader

TIERS = [
    {"name": "slow", "times_naive": 1.0, "within_fused": None},
    {"name": "fast", "times_naive": 2.0, "within_fused": None},
    {"name": "near", "times_naive": None, "within_fused": 1.5},
]
WHOLE = """
import math
import torch

def fused_attention(q, k, v, causal):
    k, v = (x.repeat_interleave(q.shape[1] // k.shape[1], 1).double() for x in (k, v))
    s = q.double() @ k.mT / math.sqrt(q.shape[-1])
    if causal:
        s = s.masked_fill(torch.ones(s.shape[-2:]).tril(s.shape[-1] - s.shape[-2]) == 0, -math.inf)
    return (s.softmax(-1) @ v).to(q.dtype)
"""
TILED = """
import math
import torch

def fused_attention(q, k, v, causal):
    B, H, T, D = q.shape
    G, S = k.shape[1:3]
    x = q.double().reshape(B, G, H // G, T, D) / math.sqrt(D)
    k, v = k.double()[:, :, None], v.double()[:, :, None]
    m = torch.full((*x.shape[:-1], 1), -math.inf, dtype=torch.double)
    l, a = torch.zeros_like(m), torch.zeros_like(x)
    for i in range(0, S, 32):
        s = x @ k[..., i : i + 32, :].mT
        if causal:
            ahead = torch.arange(i, min(i + 32, S)) > torch.arange(T)[:, None] + S - T
            s = s.masked_fill(ahead, -math.inf)
        n = torch.maximum(m, s.amax(-1, keepdim=True))
        p, c = (s - n).exp(), (m - n).exp()
        l, a, m = l * c + p.sum(-1, keepdim=True), a * c + p @ v[..., i : i + 32, :], n
    return (a / l).reshape(q.shape).to(q.dtype)
"""


def race(naive: float, fused: float, control: float = 1.0, noise: float = 0.02) -> Race:
    """Twenty rounds of a submission that takes a second: the others take `naive` and `fused`."""
    draw = random.Random(4)
    made = Race(wall=[1.0] * 20)
    for name, seconds in ((YOURS, 1.0), (NAIVE, naive), (CONTROLLED, naive * control)):
        made.cpu[name] = [seconds * draw.gauss(1, noise) for _ in range(20)]
    made.cpu[FUSED] = [fused * draw.gauss(1, noise) for _ in range(20)]
    return made


@pytest.mark.parametrize(
    ("naive", "fused", "tier", "following"),
    [
        (0.5, 0.2, 'below "slow"', "slow"),
        (1.4, 0.4, "slow", "fast"),
        (3.0, 0.4, "fast", "near"),
        (3.0, 0.9, "near", ""),
        (1.4, 0.9, "slow", "fast"),  # a rung counts with all those below it
        (0.5, 0.9, 'below "slow"', "slow"),
    ],
)
def test_a_tier_is_the_highest_rung_that_is_reached(
    naive: float, fused: float, tier: str, following: str
) -> None:
    speed = judged(TIERS, race(naive, fused))
    assert (speed.tier, speed.next, speed.unreliable) == (tier, following, "")


def test_on_the_edge_of_a_rung_no_tier_is_told_but_which_rung_it_is() -> None:
    speed = judged(TIERS, race(2.0, 0.4))
    assert (speed.tier, speed.next) == ("", "")
    assert [rung.reached for rung in speed.ladder] == [True, None, False]


def test_an_edge_above_a_rung_that_is_missed_leaves_the_tier_certain() -> None:
    speed = judged(TIERS, race(1.4, 0.667))
    assert (speed.tier, [rung.reached for rung in speed.ladder]) == ("slow", [True, False, None])


def test_each_rung_is_told_by_itself() -> None:
    speed = judged(TIERS, race(0.5, 0.9))
    assert [rung.reached for rung in speed.ladder] == [False, False, True]


def test_a_control_that_is_off_makes_the_timing_unreliable_and_no_tier() -> None:
    speed = judged(TIERS, race(3.0, 0.4, control=1.4))
    assert speed.tier == ""
    assert "twice" in speed.unreliable


def test_too_few_rounds_tell_no_tier_however_clear_they_are() -> None:
    slow = race(3.0, 0.4)
    for name in slow.cpu:
        slow.cpu[name] = slow.cpu[name][:6]
    slow.wall = slow.wall[:6]
    speed = judged(TIERS, slow)
    assert speed.tier == ""
    assert "6 rounds" in speed.unreliable


def test_work_between_the_calls_tells_no_tier_but_for_what_our_harness_does_there() -> None:
    busy = race(3.0, 0.4)
    busy.between = {YOURS: 2.0, NAIVE: 1.9}
    assert judged(TIERS, busy).tier == "fast"
    busy.between[YOURS] = 30.0
    assert "between its calls" in judged(TIERS, busy).unreliable


def test_noise_makes_a_tier_undecided_and_never_another_one() -> None:
    for naive in (1.2, 1.5, 1.8, 2.4, 3.0):
        right = judged(TIERS, race(naive, 0.4)).tier
        for noise in (0.1, 0.2, 0.3):
            assert judged(TIERS, race(naive, 0.4, noise=noise)).tier in (right, "")


def test_the_credible_bounds_hold_the_true_median_in_99_of_100_draws() -> None:
    draw = random.Random(9)
    held = 0
    for _ in range(1000):
        _, low, high = credible([draw.expovariate(1) for _ in range(21)])
        held += low <= 0.6931 <= high  # the median of that distribution is log 2
    assert held > 980


SHAPES = ("width 64", "width 80", "width 96", "odd", "causal")


def rounds_of(slow: float, noise: float, rounds: int = 7) -> list[list[float | None]]:
    """Ratios about 1.5 at SHAPES, but at width 80 so many times that."""
    draw = random.Random(7)
    usual = (1.5, 1.5 * slow, 1.2, 1.7, 1.5)
    return [[one * draw.lognormvariate(0, noise) for one in usual] for _ in range(rounds)]


def test_a_path_is_slow_where_every_round_says_so_and_undecided_where_most_do() -> None:
    for slow, noise, told in ((9.0, 0.1, True), (3.3, 0.3, None), (1.8, 0.3, False)):
        found = {path.title: path.slow for path in judged_paths(SHAPES, rounds_of(slow, noise))}
        assert found == {**dict.fromkeys(SHAPES, False), "width 80": told}


def test_noise_makes_no_usual_path_a_slow_one() -> None:
    for noise in (0.2, 0.5, 1.0):
        found = judged_paths(SHAPES, rounds_of(1.5, noise))
        assert not any(path.slow for path in found)


def test_what_slows_a_whole_round_down_makes_no_path_slow() -> None:
    rounds = [[9.0 * one for one in ratios if one] for ratios in rounds_of(1.0, 0.05, 3)]
    assert not any(path.slow for path in judged_paths(SHAPES, [*rounds_of(1.0, 0.05, 4), *rounds]))


def test_a_shape_that_raised_is_not_among_those_compared() -> None:
    rounds = [[None, *ratios[1:]] for ratios in rounds_of(9.0, 0.1)]
    assert [path.title for path in judged_paths(SHAPES, rounds)] == list(SHAPES[1:])


@pytest.mark.parametrize(("slope", "verdict"), [(1.0, "passed"), (2.0, "too_costly")])
def test_growth_beyond_the_bound_is_too_costly(slope: float, verdict: str) -> None:
    found = Growth("tensor", slope, 0.01, 1.3, (1, 2, 4, 8))
    check = growth_check(question("fused-attention"), [found])
    assert check.verdict == verdict
    assert f"{slope:.2f}" in check.message


def test_the_interpreter_is_asked_for_few_cases_in_its_own_dtypes() -> None:
    for id_ in ("fused-softmax", "fused-attention", "fused-decode", "paged-decode-kernel"):
        asked = interpreted(question(id_))
        assert len(asked["cases"]) <= 12
        for case in asked["cases"]:
            assert case["dtypes"][0] == "float32"
            assert set(case["dtypes"]) <= {"float32", "float16"}
            assert not case["gradients"]
        assert not asked["costs"]
        assert not asked["support"]


@pytest.fixture(scope="module")
def grader() -> Iterator[Grader]:
    with Grader() as made:
        yield made


def small(*paths: str) -> dict[str, Any]:
    """Short lengths for what is timed: nothing here hangs on how long they are. Slow paths are
    looked for among shapes of the titles `paths`."""
    asked = {**question("fused-attention")}
    sizes = {"B": 1, "H": 2, "H_kv": 1, "T": 256, "S": 256, "D": 16}
    asked["slope"] = {**asked["slope"], "sizes": sizes, "lengths": [64, 128, 256]}
    asked["speed"] = {**asked["speed"], "sizes": sizes}
    shapes = [shape for shape in asked["paths"]["shapes"] if shape["title"] in paths]
    asked["paths"] = {**asked["paths"], "shapes": shapes} if paths else None
    if paths:
        asked |= {"cases": asked["cases"][:2], "support": asked["support"][:1]}
        asked |= {"costs": (), "strided": ()}
    return asked


def by_id(report: Report) -> dict[str, str]:
    return {check.id: check.verdict for check in report.checks}


def test_a_tiled_kernel_passes_with_its_shapes_its_growth_and_its_speed(grader: Grader) -> None:
    asked = small()
    report = grader.grade(asked, TILED.encode(), 5)
    assert report.verdict == "passed", report.summary
    found = by_id(report)
    support = [id_ for id_ in found if id_.startswith("support/")]
    assert len(support) == sum(len(case["dtypes"]) for case in asked["support"])
    assert found["device/cuda"] == found["device/interpret"] == "not_run"
    assert found["growth"] == found["timed-values"] == "passed"
    tensor = next(one for one in report.growth if one.what == "tensor")
    assert tensor.slope == pytest.approx(1, abs=0.2)  # T x 32
    assert report.operations is not None
    assert report.operations[1] > report.operations[0]  # a tile more, an operation more
    assert report.speed is not None
    assert report.speed.rounds > 0
    assert report.notes == ()
    assert Report.from_json(report.to_json()) == report


WIDTHS = (*(f"head width {width}" for width in (64, 80, 96, 128)), "causal")
BY_ROWS = """
    if D == 80:
        rows = [fused_attention(q[:, :, i : i + 1], k, v, False) for i in range(T)] if T > 1 else ()
        if rows and not causal:
            return torch.cat(rows, 2)
"""


@pytest.mark.parametrize("slow", [False, True])
def test_a_width_at_which_a_kernel_goes_row_by_row_is_told_as_a_slow_path_and_passes(
    grader: Grader, slow: bool
) -> None:
    entry = "    B, H, T, D = q.shape\n"
    source = TILED.replace("32", "128").replace(entry, entry + BY_ROWS * slow)
    report = grader.grade(small(*WIDTHS), source.encode(), 5)
    assert report.verdict == "passed", report.summary
    assert report.paths is not None
    found = [path.title for path in report.paths.shapes if path.slow]
    assert found == ["head width 80"] * slow, report.paths
    assert len(report.paths.shapes) == len(WIDTHS)
    assert Report.from_json(report.to_json()) == report


def test_a_shape_of_the_slow_paths_that_raises_is_told_and_the_others_are_compared(
    grader: Grader,
) -> None:
    entry = "    B, H, T, D = q.shape\n"
    raises = "    if (T, D) == (256, 96):\n        raise ValueError('96')\n"
    report = grader.grade(small(*WIDTHS), TILED.replace(entry, entry + raises).encode(), 5)
    assert report.verdict == "passed", report.summary
    assert report.paths is not None
    assert report.paths.failed == ("head width 96",)
    assert len(report.paths.shapes) == len(WIDTHS) - 1


def test_a_shape_at_which_the_call_does_not_return_is_told(grader: Grader) -> None:
    entry = "    B, H, T, D = q.shape\n"
    ends = "    if (T, D) == (256, 96):\n        import os; os.abort()\n"
    report = grader.grade(small(*WIDTHS), TILED.replace(entry, entry + ends).encode(), 5)
    assert report.verdict == "passed", report.summary
    assert report.paths is not None
    assert "head width 96" in report.paths.unreliable
    assert report.paths.shapes == ()


UNFUSED = """
def fused_softmax(x):
    y = x.{copied}
    s = y - y.amax(1, keepdim=True)
    e = s.exp()
    total = e.sum(1, keepdim=True){spread}
    return (e / total).to(x.dtype)
"""


@pytest.mark.parametrize(
    ("copied", "spread", "verdict"),
    [
        ("double()", "", "passed"),  # a copy, and what float32 may make
        ("clone()", "", "too_costly"),
        ("double()", ".expand_as(y).clone().mul(y / y)", "too_costly"),
    ],
)
def test_float64_inside_may_make_as_many_tensors_beside_its_copy_and_no_more(
    grader: Grader, copied: str, spread: str, verdict: str
) -> None:
    asked = {**question("fused-softmax"), "speed": None, "strided": ()}
    asked |= {"cases": asked["cases"][:1], "support": asked["support"][:1]}
    report = grader.grade(asked, UNFUSED.format(copied=copied, spread=spread).encode(), 5)
    assert report.verdict == verdict, report.summary


SQUARED = """
import math
import torch

def fused_decode(q, k_cache, v_cache, lengths):
    n = int(lengths.max())
    x = q.reshape(len(q), k_cache.shape[1], -1, q.shape[-1]).double()
    s = x @ k_cache[:, :, :n].double().mT / math.sqrt(q.shape[-1])
    seen = torch.ones(n, n, dtype=torch.bool).tril()[lengths - 1]
    s = s.masked_fill(~seen[:, None, None], -math.inf)
    return (s.softmax(-1) @ v_cache[:, :, :n].double()).reshape(q.shape).to(q.dtype)
"""


def test_the_tokens_of_a_cache_grow_with_it_so_that_waste_on_them_shows(grader: Grader) -> None:
    asked = {**question("fused-decode"), "speed": None, "costs": (), "strided": ()}
    asked |= {"cases": asked["cases"][:2], "support": asked["support"][:1]}
    report = grader.grade(asked, SQUARED.encode(), 5)
    assert report.verdict == "too_costly", report.summary
    assert by_id(report)["growth"] == "too_costly"


def test_a_score_matrix_is_too_costly_and_no_speed_is_told(grader: Grader) -> None:
    report = grader.grade(small(), WHOLE.encode(), 5)
    assert report.verdict == "too_costly"
    assert by_id(report)["growth"] == "skipped"
    assert report.speed is None


def test_a_fill_that_is_only_added_does_not_hide_a_key_of_the_largest_score(
    grader: Grader,
) -> None:
    weak = TILED.replace("s = s.masked_fill(ahead, -math.inf)", "s = s - 1e4 * ahead")
    assert weak != TILED
    report = grader.grade(small(), weak.encode(), 5)
    assert report.verdict == "wrong_answer"
    assert report.where is not None
    assert report.where.case == "large-scores"


TF32 = """
def tf32(x):
    if x.dtype != torch.float32:
        return x
    return ((x.contiguous().view(torch.int32) + 0x1000) & ~0x1FFF).view(torch.float32)

def fused_attention(q, k, v, causal):
    f = torch.promote_types(q.dtype, torch.float32)
    return tiled(*(tf32(x.to(f)) for x in (q, k, v)), causal).to(q.dtype)
"""


def test_products_of_ten_bits_in_float32_are_told_as_what_their_size_says(grader: Grader) -> None:
    asked = {**question("fused-attention"), "speed": None, "support": ()}
    rounded = TILED.replace("fused_attention", "tiled") + TF32
    report = grader.grade(asked, rounded.encode(), 3)
    assert report.verdict == "wrong_answer"
    assert report.mistakes == ()
    assert "products rounded to TF32" in report.certain[0]


def test_a_mistake_that_fits_the_cases_is_not_named_where_other_shapes_contradict_it(
    grader: Grader,
) -> None:
    asked = {**question("fused-attention"), "speed": None}
    forgets = "    k, v = (a[:, :, : S - (S > 100 and S % 64 == 1)] for a in (k, v))\n"
    torn = TILED.replace("    x = q.double()", forgets + "    x = q.double()")
    torn = torn.replace("range(0, S, 32)", "range(0, k.shape[-2], 32)")
    torn = torn.replace("min(i + 32, S)", "min(i + 32, k.shape[-2])")
    report = grader.grade(asked, torn.encode(), 1)
    wrong = [c.id for c in report.checks if c.verdict == "wrong_answer"]
    assert wrong == ["values/one-query"]  # as if tiles of 128 keys ended at the query tile's own
    assert report.mistakes == ()


@pytest.mark.parametrize("fill", ["0.0", "math.nan"])
def test_zeros_and_nan_alone_are_evidence_of_no_mistake(grader: Grader, fill: str) -> None:
    entry = "def fused_attention(q, *_):"
    blank = f"import math\nimport torch\n{entry}\n    return torch.full_like(q, {fill})\n"
    report = grader.grade(small(), blank.encode(), 5)
    assert report.verdict == "wrong_answer"
    assert report.mistakes == ()


def test_a_shape_that_fails_is_named_and_the_others_are_judged(grader: Grader) -> None:
    narrow = "    if q.shape[-1] == 96:\n        return torch.zeros_like(q)\n"
    source = TILED.replace("    B, H, T, D = q.shape\n", narrow + "    B, H, T, D = q.shape\n")
    report = grader.grade(small(), source.encode(), 5)
    assert report.verdict == "wrong_answer"
    failed = {id_ for id_, verdict in by_id(report).items() if verdict == "wrong_answer"}
    assert failed == {"support/width-96"}
    assert by_id(report)["support/width-80"] == "passed"
    assert report.where is not None
    assert report.where.case == "width-96"


def test_inputs_that_are_not_contiguous_are_reported_and_held_against_nobody(
    grader: Grader,
) -> None:
    source = TILED.replace("q.double().reshape(", "q.view(-1).double().reshape(")
    report = grader.grade(small(), source.encode(), 5)
    assert report.verdict == "passed", report.summary
    assert any("not contiguous" in note for note in report.notes)


def test_a_call_that_fails_at_a_longer_length_is_told_and_is_no_fault_of_ours(
    grader: Grader,
) -> None:
    fails = "    if q.shape[2:] == (64, 16):\n        raise ValueError('long')\n"
    source = TILED.replace("    B, H, T, D = q.shape\n", fails + "    B, H, T, D = q.shape\n")
    report = grader.grade(small(), source.encode(), 5)
    assert report.verdict == "runtime_error", report.summary
    assert by_id(report)["growth"] == "runtime_error"


def test_one_case_alone_is_judged_without_the_stages_of_a_kernel(grader: Grader) -> None:
    first = small()["cases"][0]["id"]
    report = grader.grade(small(), TILED.encode(), 5, only_case=first)
    assert report.verdict == "passed"
    assert not any(check.id.startswith(("support", "device")) for check in report.checks)


def test_plain_torch_gives_the_interpreter_nothing_to_run(grader: Grader) -> None:
    report = grader.grade(small(), TILED.encode(), 5, device="interpret")
    assert report.verdict == "invalid"
    assert "no Triton kernel" in report.summary
    assert report.device == "interpret"


@pytest.mark.skipif(importlib.util.find_spec("triton") is None, reason="Triton is not installed")
def test_a_triton_kernel_is_judged_under_the_interpreter(grader: Grader) -> None:
    source = """
import torch, triton
import triton.language as tl

@triton.jit
def rows(x, out, columns, BLOCK: tl.constexpr):
    at = tl.program_id(0) * columns
    place = tl.arange(0, BLOCK)
    held = place < columns
    value = tl.load(x + at + place, mask=held, other=-float("inf")).to(tl.float32)
    raised = tl.exp(value - tl.max(value, 0))
    tl.store(out + at + place, raised / tl.sum(raised, 0), mask=held)

def fused_softmax(x):
    out = torch.empty_like(x)
    rows[(x.shape[0],)](x, out, x.shape[1], BLOCK=triton.next_power_of_2(x.shape[1]))
    return out
"""
    asked = question("fused-softmax")
    right = grader.grade(asked, source.encode(), 5, device="interpret")
    assert right.verdict == "passed", (right.summary, right.traceback)
    assert "kernel" in next(c.message for c in right.checks if c.id == "launches")
    unmasked = source.replace('other=-float("inf")', "other=0.0")
    wrong = grader.grade(asked, unmasked.encode(), 5, device="interpret")
    assert wrong.verdict == "wrong_answer"
