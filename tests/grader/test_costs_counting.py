"""What is counted inside a call, and what is read from outside its process."""

from __future__ import annotations

import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from isolation_harness import call, submit, tensor

from grader.isolation.calls import Usage
from grader.isolation.child.counting import Counts, counted
from grader.isolation.child.counting_recorded import recorded
from grader.isolation.usage import Meter
from grader.judging.cost_bounds import Excess, affordable
from grader.judging.cost_checks import law, message_of

X, W, V = torch.ones(6, 8), torch.ones(8, 5), torch.ones(8)


def count(function: Callable[..., Any], *arguments: Any) -> Counts:
    return counted(function, list(arguments), {}, __file__)[1]


PRODUCTS = {
    "matmul": (lambda: X @ W, 2 * 6 * 8 * 5),
    "einsum": (lambda: torch.einsum("td,de->te", X, W), 2 * 6 * 8 * 5),
    "matrix by vector": (lambda: X @ V, 2 * 6 * 8),
    "dot": (lambda: V @ V, 2 * 8),
    "batches": (lambda: X.expand(3, 6, 8) @ W, 2 * 3 * 6 * 8 * 5),
    "baddbmm": (lambda: torch.baddbmm(torch.zeros(1), X[None], W[None]), 2 * 6 * 8 * 5),
    "addmm in place": (lambda: torch.zeros(6, 5).addmm_(X, W), 2 * 6 * 8 * 5),
    "linear": (lambda: torch.nn.functional.linear(X, W.T), 2 * 6 * 8 * 5),
    "convolution": (
        lambda: torch.conv1d(torch.ones(1, 3, 10), torch.ones(4, 3, 2)),
        2 * 4 * 9 * 3 * 2,
    ),
}


@pytest.mark.parametrize("product", PRODUCTS)
@pytest.mark.parametrize("mode", [torch.enable_grad, torch.no_grad, torch.inference_mode])
def test_products_count_two_a_multiply_add_in_every_mode(product: str, mode: Any) -> None:
    function, flops = PRODUCTS[product]
    assert count(mode()(function)).flops == flops


def test_views_are_free_and_copies_count_what_they_move() -> None:
    big = torch.ones(100, 100)
    found = count(lambda: big.T[3:].view(97, 10, 10).expand(4, 97, 10, 10).transpose(0, 1))
    assert (found.work, found.tensor.elements) == (0, 0)
    assert count(lambda: big.T.contiguous()).work == 10_000
    assert count(lambda: big[3]).work == 0
    assert count(lambda: big[torch.tensor([3, 5])]).work <= 210
    assert count(lambda: torch.nn.functional.embedding(torch.tensor([7]), big)).work <= 110


def test_writing_a_slice_moves_the_slice_and_not_the_buffer() -> None:
    buffer, row = torch.zeros(1000, 8), torch.ones(1, 8)

    def write() -> None:
        buffer[7:8] = row
        buffer[torch.tensor([9])] = row
        buffer.index_copy_(0, torch.tensor([3]), row)
        buffer.scatter_(0, torch.zeros(1, 8, dtype=torch.int64), row)

    assert count(write).work < 60


def test_a_reduction_counts_what_it_reads() -> None:
    assert count(lambda: torch.ones(50, 4).sum(0)).work == 200 + 200


def test_the_largest_tensor_is_told_with_its_shape_and_line() -> None:
    def two() -> None:
        torch.ones(30, 3)
        torch.einsum("bhtd,bhsd->bhts", torch.ones(1, 2, 7, 3), torch.ones(1, 2, 11, 3))

    found = count(two)
    assert found.tensor.shape == (1, 2, 7, 11)
    assert found.tensor.dtype == "float32"
    assert found.tensor.line == two.__code__.co_firstlineno + 2
    assert count(lambda: torch.empty(40, 5, dtype=torch.bool)).tensor.dtype == "bool"


def test_the_line_with_most_of_the_work_is_known() -> None:
    def work(x: torch.Tensor) -> torch.Tensor:
        x = x + 1
        x = x @ x
        return x * 2

    assert count(work, torch.ones(20, 20)).line == work.__code__.co_firstlineno + 2


def test_copies_of_the_arguments_are_not_computed() -> None:
    x = torch.ones(4, 64)

    def copies() -> torch.Tensor:
        y = torch.nn.functional.pad(x.double(), (0, 8))
        whole = torch.empty(4, 72, dtype=y.dtype)
        whole[:, :64] = x
        return torch.stack(y.split(8, -1)).contiguous().flip(0)

    assert count(copies).computed.elements == 0
    assert count(copies).tensor.elements == 4 * 72


def test_what_is_computed_stays_so_in_a_buffer_or_a_copy() -> None:
    x = torch.ones(4, 64)

    def into_buffer() -> None:
        out = torch.empty_like(x)
        out[:, :8] = x[:, :8].exp()

    def joined() -> None:
        torch.cat([part.exp() for part in x.split(8, -1)], -1)

    def in_place() -> None:
        y = x.clone()
        y[:, :8].exp_()

    assert count(into_buffer).computed.elements == 4 * 64
    assert count(joined).computed.elements == 4 * 64
    assert count(in_place).computed.elements == 4 * 8


def test_an_exception_comes_through() -> None:
    with pytest.raises(ZeroDivisionError):
        count(lambda: 1 // 0)


def test_a_mode_taken_off_the_stack_does_no_harm() -> None:
    def pop() -> int:
        from torch.utils._python_dispatch import _get_current_dispatch_mode, _pop_mode

        assert _get_current_dispatch_mode() is not None
        _pop_mode()
        return 3

    assert counted(pop, [], {}, "")[0] == 3
    assert float(torch.ones(2).sum()) == 2


def test_the_record_sees_what_is_kept_from_the_dispatcher_and_agrees_on_the_rest() -> None:
    def product() -> None:
        (X @ W).exp()

    def hidden() -> None:
        with torch._C._DisableTorchDispatch():
            product()

    work = 2 * 6 * 8 * 5 + 30
    assert (count(product).work, count(hidden).work) == (work, 0)
    assert recorded(product, [], {}, "")[1].work == work
    assert recorded(hidden, [], {}, "")[1].work == work


def test_memory_is_held_until_its_last_view_is_gone() -> None:
    def pieces(kept: list[torch.Tensor]) -> None:
        for _ in range(10):
            kept.append(torch.ones(100).double()[:1])

    def dropped() -> None:
        for _ in range(10):
            torch.ones(100).double()

    assert count(pieces, []).held >= 8000
    assert count(dropped).held <= 2400


def test_what_numpy_makes_of_nothing_is_seen_and_its_own_functions_come_back() -> None:
    own = np.ones, np.array, torch.Tensor.numpy
    found = count(lambda: np.triu(np.ones((20, 30), bool)))
    assert (found.tensor.shape, found.tensor.dtype) == ((20, 30), "bool")
    assert count(lambda: np.arange(20)[:, None] > np.arange(30)).tensor.elements == 600
    assert count(lambda: np.array(X.numpy())).computed.elements == 0
    assert count(lambda: np.exp(np.array(X.numpy())[:2])).computed.elements == 16
    assert own == (np.ones, np.array, torch.Tensor.numpy)


def test_what_another_thread_does_is_known_to_be_unseen() -> None:
    def compute() -> None:
        end = time.thread_time() + 0.02
        while time.thread_time() < end:
            X.exp()

    def thread() -> None:
        one = threading.Thread(target=compute)
        one.start()
        one.join()

    assert count(thread).unseen
    assert not count(compute).unseen


def test_numbers_that_became_pythons_own_are_known_where_they_are_many() -> None:
    def listed() -> list[float]:
        return [x for row in X @ W for x in row.tolist()]

    def few() -> list[float]:
        return ((X @ W) @ (W.T @ W)).sum(0)[:2].tolist()

    assert count(listed).by_hand
    assert not count(few).by_hand
    assert not count(listed).unseen


def test_a_clock_names_no_law() -> None:
    usage = Usage(0.01, 0), Usage(0.16, 0)
    cost = {"instead": "Do less"}
    timed = Excess("time", {"T": 4}, {"T": 4.0}, 16.0, usage=usage, allowed=6.5)
    assert "squared" not in message_of(timed, cost)
    assert "with T squared" in message_of(replace(timed, how="work"), cost)


Q = tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])


def test_counts_and_usage_come_with_the_call_that_asks_for_them() -> None:
    source = "def f(q):\n    s = q @ q.T\n    return s.softmax(-1) @ q\n"
    calls = [call(Q), {**call(Q), "count": True}, {**call(Q), "measure": "time"}]
    _, plain, found, measured = submit(source, *calls)
    assert (plain.counts, plain.usage) == (None, None)
    assert found.counts["flops"] == 2 * 2 * 3 * 3 * 2
    assert found.counts["tensor"] == {
        "elements": 9, "shape": [3, 3], "dtype": "float32", "line": 2}  # fmt: skip
    assert found.outputs == plain.outputs == measured.outputs
    assert 0 < measured.usage["cpu_seconds"] < 5


def test_processor_time_is_that_of_all_threads_and_not_of_sleep() -> None:
    source = """
import threading, time
def burn():
    end = time.thread_time() + 0.1
    while time.thread_time() < end: pass
def f(q):
    if q[0, 0] == 1:
        time.sleep(0.2)
    else:
        thread = threading.Thread(target=burn)
        thread.start()
        thread.join()
    return q
"""
    other = tensor([[2.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    given = [{**call(x), "measure": "time"} for x in (Q, other)]
    _, slept, burnt = submit(source, *given)
    assert slept.usage["cpu_seconds"] < 0.05
    assert 0.09 < burnt.usage["cpu_seconds"] < 0.2


def test_memory_is_the_peak_also_of_what_is_freed_again_or_kept_small() -> None:
    source = """
import numpy, torch
def f(q):
    n = int(q[0, 0])
    if n == 1:
        for _ in range(64):
            kept = torch.ones(64, 2048).mul_(2)  # never more than half a mebibyte
            f.small.append(torch.ones(2000))
    elif n == 2:
        numpy.ones(16 << 17)
    return q
f.small = []
"""
    values = [tensor([[n, 0.0]]) for n in (3.0, 1.0, 2.0, 3.0)]
    _, _, small, large, nothing = submit(
        source, *({**call(x), "measure": "memory"} for x in values)
    )
    assert small.usage["peak_bytes"] < 6 << 20
    assert 16 << 20 <= large.usage["peak_bytes"] < 18 << 20
    assert nothing.usage["peak_bytes"] < 1 << 20


@pytest.fixture
def grower() -> Iterator[subprocess.Popen[str]]:
    program = """
    import sys
    big = bytearray(64 << 20); del big   # an earlier peak
    for line in sys.stdin:
        data = bytearray(int(line)); print(len(data), flush=True); sys.stdin.readline(); del data
        print("freed", flush=True)
    """
    command = [sys.executable, "-u", "-c", textwrap.dedent(program)]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with subprocess.Popen(command, **pipes) as process:
        yield process
        process.stdin.close()


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
@pytest.mark.parametrize("permitted", [True, False])
def test_an_earlier_peak_hides_no_later_one(
    grower: subprocess.Popen[str], permitted: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert grower.stdin is not None
    assert grower.stdout is not None
    grower.stdin.write("1\n\n")
    grower.stdin.flush()
    assert [grower.stdout.readline() for _ in range(2)] == ["1\n", "freed\n"]
    meter = Meter(grower.pid)
    if not permitted:  # as for another user than root
        monkeypatch.setattr("grader.isolation.usage.RESET", "/proc/{}/none")
    meter.begin()
    assert meter.exact in (permitted, False)
    grower.stdin.write(f"{8 << 20}\n")
    grower.stdin.flush()
    grower.stdout.readline()
    meter.sample()
    grower.stdin.write("\n")
    grower.stdin.flush()
    grower.stdout.readline()
    usage = meter.end()
    assert usage is not None
    assert 7.8 * 2**20 < usage.peak_bytes < 9 * 2**20


def test_a_process_that_is_gone_has_no_usage() -> None:
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    meter = Meter(process.pid)
    meter.begin()
    meter.sample()
    usage: Usage | None = meter.end()
    assert usage is None


@pytest.mark.parametrize(
    ("ratio", "grown", "says"),
    [
        (16.2, {"T": 4.0, "S": 4.0}, "T x S"),
        (15.7, {"T": 4.0}, "T squared"),
        (4.1, {"T": 4.0}, "T"),
        (3.9, {"D": 4.0, "D_v": 4.0}, "D and D_v"),
        (64.0, {"T": 4.0}, "T cubed"),
        (8.0, {"T": 4.0}, ""),
        (16.0, {}, ""),
    ],
)
def test_a_growth_is_named_where_it_is_one(
    ratio: float, grown: dict[str, float], says: str
) -> None:
    assert law(ratio, grown) == says


def test_a_slow_answer_is_weighed_at_smaller_sizes_and_at_no_less_than_twice() -> None:
    sizes, grow = {"T": 128, "S": 128, "D": 8}, {"T": 1024, "S": 1024}
    assert affordable(sizes, grow, 0.001) == {"T": 1024, "S": 1024, "D": 8}
    assert affordable(sizes, grow, 0.02) == {"T": 512, "S": 512, "D": 8}
    assert affordable(sizes, grow, 100.0) == {"T": 256, "S": 256, "D": 8}
    assert affordable(sizes, grow, 0.1, 3.0) == {"T": 1024, "S": 1024, "D": 8}
    assert affordable(sizes, {}, 100.0) == sizes
