"""The measuring loop of benchmarks/cuda on a CPU with a clock of its own: who gets through it."""

from __future__ import annotations

import itertools
import json
import math
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.append(str(ROOT))  # benchmarks are no part of the distribution

from benchmarks.cuda import growth, problems, speed, support  # noqa: E402
from benchmarks.cuda.cheats import CHEATS, Cheat  # noqa: E402
from benchmarks.cuda.device import Cpu, tampered  # noqa: E402
from benchmarks.cuda.harness import (  # noqa: E402
    HOST,
    Bench,
    Limit,
    Outcome,
    Problem,
    errors,
    limit,
    ratio,
    twisted,
)
from benchmarks.cuda.problems import Caches, Shape  # noqa: E402
from benchmarks.cuda.roofline import Peaks, measured, seconds  # noqa: E402

SHAPE = Shape(1, 2, 1, 512, 512, 32, True, torch.bfloat16)


def steady() -> Cpu:
    """A CPU whose every look at the clock takes a microsecond."""
    ticks = itertools.count()
    return Cpu(lambda: next(ticks) * 1e-6)


class Fake:
    """A device whose work takes the time that a subject says it does, on one stream or another."""

    place = torch.device("cpu")
    cache = 0.0

    def __init__(self) -> None:
        self.host = self.stream = self.elsewhere = 0.0

    def work(self, seconds: float, elsewhere: bool = False) -> None:
        if elsewhere:
            self.elsewhere = max(self.elsewhere, self.host) + seconds
        else:
            self.stream = max(self.stream, self.host) + seconds

    def wall(self) -> float:
        return self.host

    def mark(self) -> float:
        self.stream = max(self.stream, self.host)
        return self.stream

    def between(self, first: float, second: float) -> float:
        return second - first

    def synchronize(self) -> None:
        self.host = max(self.host, self.stream, self.elsewhere)

    def lead(self) -> None:
        self.work(5e-4)

    def chill(self) -> None:
        self.work(1e-4)


@pytest.fixture(scope="module")
def told() -> dict[str, str]:
    """What became of the cheats that need no GPU, and of an honest function."""
    return speed.refusals(steady(), SHAPE, None)


@pytest.mark.parametrize("cheat", [c for c in CHEATS if not c.cuda], ids=lambda c: str(c.name))
def test_a_cheat_is_refused(told: dict[str, str], cheat: Cheat) -> None:
    assert told[cheat.name]


def test_an_honest_function_is_not_refused(told: dict[str, str]) -> None:
    assert told["honest"] == ""


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("time.perf_counter replaced", "it replaced time.perf_counter"),
        ("the comparison replaced", "it replaced Tensor.abs"),
        ("filled in later by a thread", "it left a thread running"),
        ("a tensor that computes where it is used", "which may compute later"),
        ("inputs set to 0", "it changed its inputs"),
        ("result kept by a few values", "call 3: wrong values"),
        ("stops after 5 calls", "call 6: wrong values"),
        ("the first output again", "off by nan"),
    ],
)
def test_the_reason_is_the_cheat(told: dict[str, str], name: str, reason: str) -> None:
    assert reason in told[name]


def test_what_a_cheat_replaced_is_put_back(told: dict[str, str]) -> None:
    assert tampered() == []
    time.perf_counter = lambda: 0.0  # type: ignore[assignment]
    assert tampered() == ["time.perf_counter"]
    assert time.perf_counter() > 0
    assert "perf_counter" in vars(time)


def doubled() -> Problem:
    """The smallest problem there is: out = 2 x."""

    def make(seed: int) -> tuple[torch.Tensor]:
        return (torch.randn(64, 8, generator=torch.Generator().manual_seed(seed)),)

    return Problem("2 x", make, lambda x: 2 * x.double(), flops=512.0, bytes=4096.0)


def taking(device: Fake, work: float, **named: Any) -> Callable[[torch.Tensor], torch.Tensor]:
    def run(x: torch.Tensor) -> torch.Tensor:
        device.work(work, **named)
        return 2 * x

    return run


def test_times_are_the_devices_and_ratios_are_of_pairs() -> None:
    device = Fake()
    found = Bench(doubled(), device, {"": Limit(1e-6, 1e-6)}).run(
        {"slow": taking(device, 4e-3), "fast": taking(device, 1e-3)}, rounds=5
    )
    assert found["slow"].times == pytest.approx([4e-3] * 5)
    assert ratio(found["fast"], found["slow"]) == pytest.approx((4.0, 4.0, 4.0))
    assert ratio(found["slow"], found["fast"])[0] == pytest.approx(0.25)


def test_work_on_another_stream_is_refused_because_the_clocks_disagree() -> None:
    device = Fake()
    found = Bench(doubled(), device, {"": Limit(1e-6, 1e-6)}).run(
        {"aside": taking(device, 4e-3, elsewhere=True), "honest": taking(device, 4e-3)}, rounds=5
    )
    assert "work outside its stream" in found["aside"].refused
    assert not found["honest"].refused


def test_a_host_that_is_late_now_and_then_refuses_nobody() -> None:
    times = [1e-3] * 9
    late = Outcome(times=times, clocks=[1e-3] * 6 + [9e-3] * 3)
    lying = Outcome(times=times, clocks=[1e-3] * 5 + [9e-3] * 4)
    assert late.disagreement() == ""
    assert lying.disagreement()
    assert Outcome(times=[1e-5] * 3, clocks=[1e-5 + 0.9 * HOST] * 3).disagreement() == ""


def test_what_is_faster_than_the_hardware_is_refused() -> None:
    device = Fake()
    floor = Peaks(half=2e6, bandwidth=1e9).floor(512.0, 4096.0, 4)
    assert floor == pytest.approx(512e-6)
    assert Peaks(half=2e6, bandwidth=1e6).floor(512.0, 4096.0, 2) == pytest.approx(4096e-6)
    # What the cache still holds at the end has not cost the memory's time.
    cached = Peaks(half=2e9, bandwidth=1e6, cache=4000.0)
    assert cached.floor(0.0, 4096.0, 2) == pytest.approx(96e-6)
    found = Bench(doubled(), device, {"": Limit(1e-6, 1e-6)}, floor).run(
        {"below": taking(device, 0.9 * floor), "above": taking(device, 1.1 * floor)}, rounds=3
    )
    assert "faster than the hardware" in found["below"].refused
    assert not found["above"].refused


def test_a_subject_that_raises_or_returns_another_shape_is_refused_and_the_others_go_on() -> None:
    def fails(x: torch.Tensor) -> torch.Tensor:
        raise ZeroDivisionError("no")

    subjects = {"raises": fails, "shape": lambda x: 2 * x[1:], "right": lambda x: 2 * x}
    found = Bench(doubled(), steady(), {"": Limit(1e-6, 1e-6)}).run(subjects, rounds=4)
    assert "ZeroDivisionError: no" in found["raises"].refused
    assert "returned (63, 8)" in found["shape"].refused
    assert len(found["right"].times) == 4


def test_what_was_replaced_by_a_subject_that_raises_is_put_back() -> None:
    def subject(x: torch.Tensor) -> torch.Tensor:
        time.perf_counter = lambda: 0.0  # type: ignore[assignment]
        raise SystemExit(0)

    found = Bench(doubled(), steady(), {"": Limit(1e-6, 1e-6)}).run({"f": subject}, rounds=1)
    assert "SystemExit" in found["f"].refused
    assert tampered() == []


def test_a_thread_that_was_there_before_is_nobodys_fault() -> None:
    done = threading.Event()
    thread = threading.Thread(target=done.wait, daemon=True)
    thread.start()
    found = Bench(doubled(), steady(), {"": Limit(1e-6, 1e-6)}).run({"f": lambda x: 2 * x}, 2)
    done.set()
    assert not found["f"].refused


def test_no_two_calls_get_the_same_inputs_and_every_third_nearly_does() -> None:
    seen: list[torch.Tensor] = []

    def subject(x: torch.Tensor) -> torch.Tensor:
        seen.append(x.clone())
        return 2 * x

    Bench(doubled(), steady(), {"": Limit(1e-6, 1e-6)}).run({"f": subject}, rounds=6)
    assert not any(torch.equal(a, b) for a, b in itertools.combinations(seen, 2))
    assert all(torch.equal(seen[i][:16], seen[i + 1][:16]) for i in (1, 4, 7))


def test_a_twist_changes_the_result_and_leaves_the_original() -> None:
    q, k, v, causal = problems.attention_inputs(SHAPE, torch.device("cpu"), 0)
    before = v.clone()
    again = twisted((q, k, v, causal))
    assert torch.equal(v, before)
    assert again[0] is q
    assert not torch.equal(again[2], v)


def test_room_for_errors_is_measured_and_never_nothing() -> None:
    problem = doubled()
    exact = limit(problem, [lambda x: 2 * x], range(2), 2.0)
    assert 0 < exact.rms < 1e-6
    coarse = limit(problem, [lambda x: 2 * x.half().float()], range(2), 2.0)
    assert coarse.rms > 100 * exact.rms
    assert math.isnan(errors(torch.tensor([torch.nan]), torch.zeros(1))[0])


@pytest.mark.parametrize(
    "shape",
    [
        Shape(2, 4, 2, 5, 9, 16, True, torch.float32),
        Shape(1, 2, 2, 7, 7, 16, True, torch.float32),
        Shape(1, 2, 1, 9, 4, 16, False, torch.float32),
    ],
)
def test_the_baselines_are_attention(shape: Shape) -> None:
    inputs = problems.attention_inputs(shape, torch.device("cpu"), 3)
    expected = problems.attention_truth(*inputs)
    assert expected.dtype == torch.float64
    for function in (problems.attention_naive, problems.attention_fused):
        torch.testing.assert_close(function(*inputs).double(), expected, rtol=1e-4, atol=1e-5)


def test_flops_and_bytes_are_what_the_formulas_say() -> None:
    shape = Shape(1, 2, 1, 3, 5, 16, True, torch.bfloat16)
    assert shape.flops == 4 * 2 * 16 * (3 + 4 + 5)
    assert shape.bytes == 2 * 16 * (2 * 2 * 3 + 2 * 5)
    full = Caches(2, 4, 2, 8, 16, torch.float32)
    assert full.lengths(torch.device("cpu")).tolist() == [4, 8]
    assert full.bytes == 4 * 16 * (2 * 2 * 12 + 2 * 2 * 4)


def test_every_contest_can_be_held_and_told() -> None:
    sizes = Caches(2, 4, 2, 64, 16, torch.float32)
    place = torch.device("cpu")
    shape = Shape(1, 2, 1, 32, 32, 16, True, torch.float32)
    held = [
        speed.attention(shape, problems.attention_fused, place, bar=0.01),
        speed.contest(
            problems.decode(sizes, place), problems.decode_fused,
            problems.decode_fused, problems.decode_naive, torch.float32,
        ),
        speed.contest(
            problems.paged(sizes, place), problems.paged_fused,
            problems.paged_fused, problems.paged_fused, torch.float32,
        ),
        speed.contest(
            problems.softmax(8, 33, torch.float32, place), lambda x: torch.zeros_like(x),
            problems.softmax_fused, problems.softmax_naive, torch.float32,
        ),
    ]  # fmt: skip
    for one in held:
        speed.hold(one, steady(), None, rounds=3)
    lines = "\n".join(speed.table(held))
    assert lines.count("REFUSED") == 1
    assert "bar 0.01 of torch's speed: met" in lines
    assert math.isnan(held[3].speed(speed.OURS)[0])
    json.dumps(speed.as_json(held))


def test_support_lists_what_fails_what_is_slow_and_what_was_left() -> None:
    device = Fake()

    def function(q: torch.Tensor, *rest: Any) -> torch.Tensor:
        if q.shape[3] == 96:
            raise RuntimeError("no such width\nand more")
        if q.shape[3] == 80:
            return torch.zeros_like(q)
        device.work(4e-3 if q.shape[3] == 128 else 1e-3)
        return problems.attention_fused(q, *rest)

    cases = [Shape(1, 2, 1, 4, 1200, w, False, torch.float32) for w in (64, 80, 96, 128, 256)]
    cases += [Shape(1, 2, 1, 1200, 4, 64, False, torch.float32)]
    asked = iter([False] * 5 + [True])
    old, support.TIMED_FROM = support.TIMED_FROM, 4
    try:
        cells, left = support.check(function, device, cases, enough=lambda: next(asked))
    finally:
        support.TIMED_FROM = old
    lines = "\n".join(support.table(cells, left))
    assert (len(cells), left) == (5, 1)
    assert "FAILED fp32 D=96 full T=4 S=1200 B=1 H=2/1: RuntimeError: no such width" in lines
    assert "FAILED fp32 D=80" in lines
    assert "NOT MEASURED: 1" in lines
    found = support.as_json(cells, left)
    assert (found["right"], len(found["failed"])) == (3, 2)
    assert found["tflops"].keys() == {c.shape.name for c in cells if not c.failure}


def test_a_width_far_slower_than_its_neighbours_is_named() -> None:
    shapes = [Shape(1, 8, 8, 1000, 1000, w, True, torch.bfloat16) for w in (64, 80, 96, 128)]
    cells = [support.Cell(s, seconds=1e-12 * s.flops) for s in shapes]
    cells[1].seconds *= 3
    support._compare(cells)
    assert [c.shape.width for c in cells if c.neighbours > support.FAR] == [80]


def test_the_matrix_holds_what_is_promised() -> None:
    shapes = list(support.shapes())
    assert {s.width for s in shapes} == {64, 80, 96, 128, 256}
    assert {s.heads // s.kv_heads for s in shapes} == {1, 4, 8}
    assert {1, 127, 128, 129, 1000, 4096} <= {s.keys for s in shapes}
    assert any(s.queries > s.keys for s in shapes)
    assert not any(s.causal and s.queries > s.keys for s in shapes)
    assert len(shapes) == len(set(shapes))


def test_slopes_are_those_of_the_powers() -> None:
    assert growth.slope((1, 2, 4), (3, 12, 48)) == pytest.approx(2)
    made: list[int] = []

    def peak(call: Callable[[], Any]) -> int:
        made.append(call().shape[2])
        return made[-1] ** 2

    found = growth.slopes({"f": problems.attention_fused}, torch.device("cpu"), peak, (8, 16))
    assert made == [8, 16]
    assert found["f"] == (pytest.approx(2), [64, 256])


def test_peaks_are_measured_with_room_above_or_stated() -> None:
    device = Fake()
    assert seconds(device, lambda: device.work(2e-3)) == pytest.approx(2e-3)
    stated = measured(steady(), "NVIDIA H200", side=8, copied=64)
    assert stated.half >= 989e12
    assert stated.bandwidth >= 4.8e12


def test_without_a_gpu_the_check_says_so_and_claims_nothing(tmp_path: Path) -> None:
    out = tmp_path / "found.json"
    done = subprocess.run(
        [sys.executable, str(ROOT / "benchmarks" / "cuda_check.py"), "--out", str(out)],
        env={**os.environ, "CUDA_VISIBLE_DEVICES": ""},
        cwd=tmp_path, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [
        "No CUDA device is present, so nothing was measured and nothing is claimed."
    ]
    assert not out.exists()
