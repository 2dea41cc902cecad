"""A learner's file in a lab: shut in as for a grade, and timed without the way into its process."""

from __future__ import annotations

import gc
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch

from grader.isolation.calls import Call, Outcome, Usage
from grader.isolation.usage import Meter
from grader.labs.subject import REPEATED, Submission, Unmeasurable
from grader.session import Grader

RIGHT = """import torch
def attention(q, k, v, mask=None):
    scores = torch.einsum("bhtd,bhsd->bhts", q, k) * q.shape[-1] ** -0.5
    return torch.einsum("bhts,bhsd->bhtd", scores.softmax(-1), v)
"""


@pytest.fixture(scope="module")
def grader() -> Iterator[Grader]:
    with Grader() as one:
        yield one


def lab(grader: Grader, name: str, source: str) -> dict[str, Any]:
    return grader.lab(name, 7, True, source.encode(), "mine.py")


class Worker:
    """Takes 3 ms for the way in and out, and half a second for each call: none for -1 of them."""

    def __init__(self, asked: list[Call]) -> None:
        self.asked = asked

    def __enter__(self) -> Worker:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def load(self) -> Outcome:
        return Outcome("returned")

    def call(self, call: Call) -> Outcome:
        self.asked.append(call)
        times = call.args[0]
        assert isinstance(times, int)
        return Outcome("returned", usage=Usage(3e-3 + 0.5 * max(0, times), 0))


def test_the_way_into_its_process_is_no_part_of_the_time_of_a_file() -> None:
    calls: list[Call] = []
    entries: list[tuple[bytes, str]] = []

    def factory(source: bytes, filename: str, entry: str) -> Any:
        entries.append((source, entry))
        return lambda: Worker(calls)

    q = torch.zeros(1, 2, 5, 4)
    with Submission("attention", "attention", RIGHT.encode(), "mine.py", factory) as subject:
        task = subject.task((q, q, q), q)
        assert task(4) == pytest.approx(2.0)
        assert task(3) == pytest.approx(1.5)
    # Each pair begins with numbers that no call has seen.
    assert [call.args[:2] for call in calls] == [[-4, 0], [4, 0], [-3, 4], [3, 4]]
    assert all(call.measure == "time" for call in calls)
    assert [entry for _, entry in entries] == ["attention", REPEATED]
    assert all(source.startswith(RIGHT.encode()) for source, _ in entries)


def test_what_is_taken_off_makes_no_call_and_holds_no_argument() -> None:
    sources: list[bytes] = []

    def factory(source: bytes, *_: str) -> Any:
        sources.append(source)
        return lambda: None

    counted = b"calls = []\ndef attention(q, k, v):\n    calls.append(q.clone())\n    return q + v"
    Submission("attention", "attention", counted, "mine.py", factory)
    made: dict[str, Any] = {}
    exec(sources[1], made)
    q, k, v = (torch.zeros(2, 3, 4) for _ in range(3))
    try:
        nothing = made[REPEATED](-3, 0, q, k, v)
        assert not made["calls"]
        assert nothing.shape == q.shape
        # It would stay mapped until the next call, whose time it would be to unmap it.
        assert nothing.data_ptr() not in {one.data_ptr() for one in (q, k, v)}
        made[REPEATED](3, 3, q, k, v)
    finally:
        gc.enable()
    first, second, third = (float(one[0, 0, 0]) for one in made["calls"])
    assert len({first, second, third}) == 3


def test_the_clock_of_a_process_is_read_after_all_else(monkeypatch: pytest.MonkeyPatch) -> None:
    order: list[str] = []
    meter = Meter(os.getpid())

    def cpu() -> float:
        order.append("clock")
        return 0.0

    def memory() -> tuple[int, int]:
        order.append("memory")
        return 1, 1

    monkeypatch.setattr(meter, "_cpu", cpu)
    monkeypatch.setattr(meter, "_memory", memory)
    meter.begin()
    if meter.gone:
        pytest.skip("the system does not tell")
    meter.end()
    assert order == ["memory", "clock", "memory", "clock"]


@pytest.mark.parametrize("ending", ["", "\n", "    # a comment", "\nif True:\n    pass"])
def test_a_file_of_ones_own_is_measured_however_it_ends(grader: Grader, ending: str) -> None:
    data = lab(grader, "quadratic", RIGHT.rstrip("\n") + ending)["data"]
    assert data["seconds"]["whole"][-1] > 0
    assert data["held_bytes"]["whole"][-1] > 4 * data["heads"] * data["sizes"][-1] ** 2
    assert data["held_is_all"]


def test_memory_that_is_used_outside_torch_is_not_taken_for_all(grader: Grader) -> None:
    source = """import numpy as np, torch
def attention(q, k, v, mask=None):
    s = q.numpy() @ k.numpy().swapaxes(-1, -2) / q.shape[-1] ** 0.5
    w = np.exp(s - s.max(-1, keepdims=True))
    return torch.from_numpy(w / w.sum(-1, keepdims=True) @ v.numpy())
"""
    assert not lab(grader, "quadratic", source)["data"]["held_is_all"]


def test_prefill_and_decode_take_a_file(grader: Grader) -> None:
    data = lab(grader, "prefill-decode", RIGHT)["data"]
    assert data["seconds"]["prefill-attention"] > 0


def test_the_rounding_of_a_file_is_its_own(grader: Grader) -> None:
    source = """import torch
def online_softmax(x, block_size):
    x = x.double()
    m = x.amax(-1)
    return m.to({0}), (x - m[:, None]).exp().sum(-1).to({0})
""".replace("{0}", "kind")
    source = source.replace("    x = x.double()\n", "    kind, x = x.dtype, x.double()\n")
    data = lab(grader, "online-softmax-error", source)["data"]
    for name, errors in data["error_against_length"]["blockwise"].items():
        if name in data["unit_roundoff"]:  # rounded once
            assert max(errors) < data["unit_roundoff"][name]


@pytest.mark.parametrize(
    ("source", "told"),
    [
        ("def attention(q, k, v", "mine.py: Python cannot read this file (line 1)"),
        ("def attend(q): return q", "mine.py: The file defines no `attention`"),
        ("attention = 3", "mine.py: "),
        ("def attention(q, k, v, mask=None):\n  return q @ k", "mine.py: RuntimeError:"),
        ("def attention(q, k, v, mask=None): return v", "other values than `attention` should"),
        ("def attention(q, k, v, mask=None): return 1", "does not return (1, 2, 50, 64) float32"),
        ("import os\nos._exit(0)\ndef attention(q, k, v): return v", "mine.py: "),
        ("raise SystemExit", "mine.py: "),
    ],
)
def test_a_file_that_cannot_be_measured_is_one_sentence(
    grader: Grader, source: str, told: str
) -> None:
    failed = lab(grader, "quadratic", source)["failed"]
    assert told in failed
    assert len(failed.splitlines()) == 1


WHOLE = "(q @ k.mT / q.shape[-1] ** 0.5).softmax(-1) @ v"
WRONG_WHERE_IT_IS_MEASURED = f"""
def attention(q, k, v):
    return {WHOLE} if k.shape[2] < 60 else q @ k.mT @ v
"""
BY_ADDRESS = f"""
found = {{}}
def attention(q, k, v):
    key = (q.shape, q.data_ptr())
    if key not in found:
        found[key] = {WHOLE}
    return found[key]
"""
BY_SHAPE = BY_ADDRESS.replace("q.data_ptr()", "k.shape")
IN_PLACE = """
def attention(q, k, v):
    q /= q.shape[-1] ** 0.5
    return (q @ k.mT).softmax(-1) @ v
"""
FORGETS_TO_RESCALE = """import torch
def online_softmax(x, block_size):
    m = torch.full_like(x[:, 0], -torch.inf)
    total = torch.zeros_like(m)
    for block in x.split(block_size if x.shape[1] > 60 else 60, 1):
        m = torch.maximum(m, block.amax(1))
        total = total + (block - m[:, None]).exp().sum(1)
    return m, total
"""


@pytest.mark.parametrize(
    ("name", "source", "told"),
    [
        ("quadratic", WRONG_WHERE_IT_IS_MEASURED, "other values than `attention` should"),
        ("prefill-decode", WRONG_WHERE_IT_IS_MEASURED, "tensors of (1, 4, 64, 64), so measuring"),
        ("online-softmax-error", FORGETS_TO_RESCALE, "tensors of (32, 64), so measuring it tells"),
        ("quadratic", BY_ADDRESS, "does it remember"),
        ("quadratic", BY_SHAPE, "does it remember"),
        ("prefill-decode", BY_ADDRESS, "does it remember"),
        ("quadratic", IN_PLACE, "alters the tensors that it is given"),
        ("prefill-decode", IN_PLACE, "alters the tensors that it is given"),
    ],
)
def test_what_is_measured_has_the_right_values_there_and_again(
    grader: Grader, name: str, source: str, told: str
) -> None:
    failed = lab(grader, name, source)["failed"]
    assert told in failed
    assert len(failed.splitlines()) == 1


def test_a_memory_of_all_numbers_seen_saves_no_call(grader: Grader, tmp_path: Path) -> None:
    source = (
        RIGHT.replace("attention(", "compute(")
        + """
found, calls = {}, [0, 0]
def attention(q, k, v, mask=None):
    key = tuple(one.numpy().tobytes() for one in (q, k, v))
    calls[0] += 1
    calls[1] += key not in found
    if calls[0] == 20 and calls[1] < 16:
        raise ValueError(f"{calls[1]} of {calls[0]} computed")
    if key not in found:
        found.clear()
        found[key] = compute(q, k, v)
    return found[key]
"""
    )
    assert "failed" not in lab(grader, "quadratic", source)


def test_what_takes_no_time_is_not_measured() -> None:
    subject = Submission("attention", "attention", b"", "mine.py", lambda *_: Worker)  # type: ignore[arg-type,return-value]
    subject.took(1e-6, "S = 256")
    with pytest.raises(Unmeasurable, match=r"mine.py takes no time .* S = 256: close other"):
        subject.took(-1e-6, "S = 256")


def test_a_file_is_not_run_where_the_lab_is(grader: Grader, tmp_path: Path) -> None:
    spy = f"""import os
try:
    open({str(tmp_path / "spy")!r}, "w").write("seen")
except OSError:
    pass
names = sorted(m for m in __import__("sys").modules if m.split(".")[0] in ("reference", "drills"))
raise RuntimeError(f"{{names}} {{os.environ.get('DRILL_HOME')}}")
"""
    failed = lab(grader, "quadratic", spy)["failed"]
    assert "RuntimeError: [] None" in failed
    assert grader.policy.tier < 2 or not (tmp_path / "spy").exists()
