"""Kernels on a GPU, as far as none is needed: what is let in for it, whose clock counts, and whole
grades by real processes in which the CPU stands in for the device."""

from __future__ import annotations

import hashlib
import os
import platform
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from bank import question
from hypothesis import given
from hypothesis import strategies as st
from isolation_harness import HERE, Answer, X, call
from isolation_harness import question as sample
from test_kernels import TIERS, TILED, WHOLE, by_id, race

from grader.isolation import accelerator, bubblewrap, folders, ioctls, nvml, policy, seccomp
from grader.isolation.calls import Limits, Taken, limits_of
from grader.judging import device_clock
from grader.judging.device_stages import DTYPES, grown, kernels_check, on_cuda, peaks_of
from grader.judging.kernels import growth_check
from grader.judging.speed import judged
from grader.report import UNTRIED
from grader.session import Grader

X86, IOCTL, REFUSED = 0xC000003E, 16, 0x50001
NV, UVM_START, UVM_REGISTER, UVM_IS_8 = 0xC020462B, 0x30000001, 37, 2047
TIOCSTI, FICLONE, UNKNOWN = 0x5412, 0x40049409, 0xC0044799


def answered(program: bytes, request: int) -> int:
    """What the kernel makes of an `ioctl` by these instructions; -1 where they fall through."""
    data = struct.pack("<IIQQQ", IOCTL, X86, 0, 3, request)
    value, at = 0, 0
    code = [struct.unpack_from("=HBBI", program, n) for n in range(0, len(program), 8)]
    while at < len(code):
        operation, yes, no, k = code[at]
        at += 1
        if operation == ioctls.LOAD:
            (value,) = struct.unpack_from("<I", data, k)
        elif operation == ioctls.AND:
            value &= k
        elif operation == ioctls.EQUAL:
            at += yes if value == k else no
        elif operation == ioctls.AT_LEAST:
            at += yes if value >= k else no
        else:
            assert operation == ioctls.RETURN
            return int(k)
    return -1


@pytest.mark.parametrize("request_", [NV, UVM_START, UVM_REGISTER, UVM_IS_8])
def test_requests_of_nvidias_driver_pass_for_a_gpu_alone(request_: int) -> None:
    unknown = ioctls.ERROR | 25  # ENOTTY
    assert answered(ioctls.program(X86, IOCTL, REFUSED), request_) == unknown
    assert answered(ioctls.program(X86, IOCTL, REFUSED, True), request_) == ioctls.ALLOW


@pytest.mark.parametrize("request_", [TIOCSTI, FICLONE, UNKNOWN, 0x5401, 0x40086602])
def test_all_other_requests_are_answered_as_on_the_cpu(request_: int) -> None:
    plain, driver = (ioctls.program(X86, IOCTL, REFUSED, wanted) for wanted in (False, True))
    assert answered(plain, request_) == answered(driver, request_)
    assert (answered(driver, request_) == ioctls.ALLOW) == (request_ == 0x5401)  # TCGETS


LOOKS_FOR_A_DAEMON = """
import socket
def f(x):
    told = []
    for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM, socket.SOCK_SEQPACKET):
        try:
            with socket.socket(socket.AF_UNIX, kind) as made:
                made.bind(chr(0) + "drill-test")
                made.listen()
                made.connect("/run/daemon")
        except OSError as error:
            told.append(type(error).__name__)
    return x * told.count("ConnectionRefusedError")
"""
GOES_ONLINE = """
import socket
def f(x):
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM):
        return x
"""


def test_a_driver_that_looks_for_a_daemon_finds_none_and_nobody_is_blamed(grader: Grader) -> None:
    _, looked = outcomes(grader, LOOKS_FOR_A_DAEMON, call(X))
    if grader.policy.tier < 2:
        pytest.skip("no filter here")
    assert (looked.status, looked.denials) == ("returned", [])
    assert looked.outputs[0] == [[3.0, 6.0, 9.0], [12.0, 15.0, 18.0]]
    _, online = outcomes(grader, GOES_ONLINE, call(X))
    assert (online.status, online.denials) == ("denied", ["network"])


NAMES_ITS_THREADS = """
import os, threading
def f(x):
    named = []
    def name():
        path = f"/proc/{os.getpid()}/task/{threading.get_native_id()}/comm"
        with open(path, "w") as file:
            file.write("cuda-thread")
        with open(path) as file:
            named.append(file.read().strip())
    thread = threading.Thread(target=name)
    thread.start()
    thread.join()
    return x * named.count("cuda-thread")
"""


def test_a_driver_may_name_its_threads(grader: Grader) -> None:
    _, named = outcomes(grader, NAMES_ITS_THREADS, call(X))
    assert named.status == "returned", named.error
    assert named.outputs[0] == [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]


@pytest.mark.skipif(platform.machine() != "x86_64", reason="requests have other numbers there")
def test_the_filter_of_requests_on_the_cpu_is_what_it_was_byte_for_byte() -> None:
    digest = hashlib.sha256(ioctls.program(X86, IOCTL, REFUSED)).hexdigest()
    assert digest == "5ab072a0a5423deac43a63d9bed2b4ce554be532a16836471262526364892ffc"


def test_bubblewrap_binds_devices_where_they_are_named_and_nothing_else_differs() -> None:
    plain = bubblewrap.command("bwrap", ["/usr"], "/scratch", 9)
    assert "--dev-bind-try" not in plain
    line = bubblewrap.command("bwrap", ["/usr"], "/scratch", 9, ["/dev/nvidia0"])
    at = line.index("--dev-bind-try")
    assert line[at : at + 3] == ["--dev-bind-try", "/dev/nvidia0", "/dev/nvidia0"]
    assert line.index("--dev") < at < line.index("--remount-ro")  # over the empty /dev
    assert line[:at] + line[at + 3 :] == plain


def test_the_policy_of_the_cpu_lets_in_nothing_of_a_gpus() -> None:
    chosen = policy.inner("")
    assert (chosen.accelerator, chosen.driven, chosen.programs) == ("", (), ())
    assert not chosen.compiles
    assert not chosen.environment
    assert chosen.bounds_memory
    if chosen.tier > 1:
        assert list(chosen.readable) == folders.readable()
        assert chosen.devices == folders.DEVICES
    assert limits_of(7.0) == Limits(seconds=7.0)


def test_the_policy_of_a_gpu_names_its_devices_and_keeps_what_is_ours_shut(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    nodes = ["/dev/nvidia0", "/dev/nvidiactl", "/dev/nvidia-uvm"]
    monkeypatch.setattr(accelerator, "devices", lambda: nodes)
    chosen = policy.inner("", accelerator="cuda")
    if chosen.tier < 2:
        pytest.skip(f"no Landlock here: {chosen.lacking}")
    assert list(chosen.driven) == nodes
    assert "/proc/self/task" in chosen.devices
    assert not chosen.bounds_memory
    ours = folders.packages()
    for opened in (*chosen.readable, *chosen.programs):
        assert not any(f"{path}/".startswith(f"{opened}/") for path in ours), opened
    assert any(line.startswith("no wall around the GPU") for line in chosen.layers(1.0))
    plain = policy.inner("").tried
    assert {what for _, what in chosen.tried} <= {what for _, what in plain} | {"thread"}


def test_compilers_are_shut_out_where_nothing_bounds_how_many_processes_there_are(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    chosen = policy.inner("no bubblewrap", accelerator="cuda")
    assert (chosen.compiles, chosen.programs) == (False, ())
    names = [name for name in seccomp.COMPILING_NEEDS if name == "execve"]
    assert names  # what the filter then still denies
    if chosen.tier > 1:
        assert "program" in {what for _, what in chosen.tried}


def test_where_nvidias_library_is_missing_the_devices_memory_is_not_told() -> None:
    if Path("/dev/nvidiactl").exists():
        pytest.skip("there is one")
    assert nvml.used() is None


# Whose clock counts.


def test_what_counts_is_the_devices_clock_where_the_judges_confirms_it() -> None:
    nothing = Taken(seconds=2e-6, wall=60e-6)
    honest = Taken(seconds=1002e-6, wall=1160e-6)
    assert device_clock.seconds(honest, nothing) == pytest.approx(1e-3)
    assert device_clock.agree(honest, nothing)


@given(told=st.floats(0, 1e-2), true=st.floats(0, 1e-2))
def test_a_device_clock_that_lies_gains_no_more_than_the_hosts_launching(
    told: float, true: float
) -> None:
    nothing = Taken(seconds=0.0, wall=50e-6)
    lying = Taken(seconds=told, wall=true + 50e-6)
    assert device_clock.seconds(lying, nothing) >= true - device_clock.LAUNCHING - 1e-12


def test_work_on_another_stream_makes_the_clocks_disagree() -> None:
    nothing = Taken(wall=50e-6)
    assert not device_clock.agree(Taken(seconds=10e-6, wall=2e-3), nothing)
    assert not device_clock.agree(Taken(seconds=2e-3, wall=60e-6), nothing)


def test_the_roofline_is_the_time_of_reading_the_arguments_once() -> None:
    assert device_clock.floor(1_150_000, 1e9) == pytest.approx(1e-3)
    assert device_clock.floor(10, 0.0) == 0.0


def test_a_time_below_the_roofline_and_clocks_that_disagree_tell_no_tier() -> None:
    fast = race(3.0, 0.4)
    fast.floor = 1.5
    told = judged(TIERS, fast)
    assert (told.tier, "read the arguments" in told.unreliable) == ("", True)
    fast.floor, fast.apart = 0.5, 6
    assert judged(TIERS, fast).tier == "fast"  # of 20 rounds: the host has other work
    fast.apart = 7
    assert "did not agree" in judged(TIERS, fast).unreliable


# Counts.


@pytest.mark.parametrize(
    ("kernels", "most", "verdict"),
    [(1, 1, "passed"), (2, 2, "passed"), (3, 2, "too_costly"), (0, 1, "not_run")],
)
def test_a_call_is_fused_where_it_launches_no_more_kernels_than_declared(
    kernels: int, most: int, verdict: str
) -> None:
    assert kernels_check(kernels, most).verdict == verdict


@pytest.mark.parametrize(("power", "verdict"), [(1, "passed"), (2, "too_costly")])
def test_memory_of_the_device_may_grow_as_the_length_and_not_as_its_square(
    power: int, verdict: str
) -> None:
    asked = question("fused-attention")["cuda"]
    peaks = [4 * length**power * 1024 for length in asked["slope"]["lengths"]]
    check = growth_check(asked, grown(asked["slope"], peaks))
    assert check.verdict == verdict
    assert "memory of the device" in check.message


def test_memory_taken_past_torch_counts_and_a_neighbours_for_once_does_not() -> None:
    inside, gib = [1 << 20, 2 << 20, 4 << 20], 1 << 30
    assert peaks_of(inside, [0, 0, 0]) == inside
    assert peaks_of(inside, [0, 0, 3 * gib]) == inside
    assert peaks_of(inside, [0, gib, 4 * gib]) == [1 << 20, gib, 4 * gib]


def test_on_a_gpu_the_matrix_is_called_in_its_dtypes_and_the_sizes_are_its_own() -> None:
    asked = on_cuda(question("fused-decode"))
    assert all(tuple(case["dtypes"]) == DTYPES for case in asked["support"])
    assert all("float64" not in case["dtypes"] for case in asked["cases"])
    large = next(case for case in asked["cases"] if case["id"] == "large-scores")
    assert large["dtypes"] == ["float32"]  # they leave float16's range
    assert asked["speed"]["sizes"]["S"] == 8192
    assert asked["speed"]["naive"] == "reference.kernels.naive.decode"
    assert asked["costs"] == ()


# Real processes, with a stand-in.


def small(kernels: int = 400) -> dict[str, Any]:
    asked = dict(question("fused-attention"))
    asked |= {"cases": asked["cases"][:2], "support": asked["support"][:1], "paths": None}
    asked["strided"] = asked["strided"][:1]
    sizes = {"B": 1, "H": 2, "H_kv": 1, "T": 128, "S": 128, "D": 16}
    cuda = asked["cuda"]
    speed = {**cuda["speed"], "sizes": sizes, "dtype": "float32"}
    slope = {**cuda["slope"], "sizes": sizes, "lengths": [256, 512, 1024]}
    asked["cuda"] = {**cuda, "launches": kernels, "speed": speed, "slope": slope, "seconds": 60.0}
    return asked


@pytest.fixture(scope="module")
def grader() -> Iterator[Grader]:
    handlers = {"prove": "isolation_script:run"}
    with Grader(handlers, [HERE], accelerator="stand-in") as made:
        yield made


def outcomes(grader: Grader, source: str, *calls: dict[str, Any]) -> list[Answer]:
    grader._use_device(True)
    found = grader.prove(sample(calls=list(calls)), {"source": source.encode()}, [])
    return [Answer(outcome) for outcome in found["outcomes"]]


def test_a_tiled_kernel_passes_each_stage_and_the_report_says_what_nobody_tried(
    grader: Grader,
) -> None:
    report = grader.grade(small(), TILED.encode(), 5, device="cuda")
    assert report.verdict == "passed", (report.summary, report.output)
    found = by_id(report)
    stages = ("support/width-64/bfloat16", "kernels", "growth", "timed-values")
    assert {found[stage] for stage in stages} == {"passed"}
    assert found["device/cpu"] == found["device/interpret"] == "not_run"
    assert [one.what for one in report.growth] == ["device"]
    assert report.speed is not None
    assert report.speed.rounds > 0
    assert report.device == "cuda"
    assert [UNTRIED.lower() in note.lower() for note in report.notes] == [True]
    assert any(line.startswith("no wall around the GPU") for line in report.isolation)


def test_too_many_kernels_and_a_score_matrix_are_too_costly(grader: Grader) -> None:
    report = grader.grade(small(kernels=3), WHOLE.encode(), 5, device="cuda")
    found = by_id(report)
    assert (found["kernels"], found["growth"]) == ("too_costly", "too_costly")
    assert report.verdict == "too_costly"
    assert report.speed is None


CHEATS = Path(__file__).resolve().parent.parent / "hostile" / "kernels"


@pytest.mark.parametrize(
    "name",
    ["by_address", "by_shape", "constant", "once_then_copies", "late", "stops_when_timed"],
)
def test_kernels_that_cheat_are_refused_on_a_device_too(grader: Grader, name: str) -> None:
    path = CHEATS / f"{name}.py"
    wanted = path.read_text(encoding="utf-8")[2:].partition(":")[0]
    assert grader.grade(small(), path.read_bytes(), 7, device="cuda").verdict == wanted


def test_a_timed_call_is_paced_by_the_judge_and_told_what_it_took(grader: Grader) -> None:
    source = "import time\ndef f(x):\n    time.sleep(0.03)\n    return x * 2\n"
    loaded, timed, counted, held = outcomes(
        grader, source, *({**call(X), "measure": m} for m in ("time", "kernels", "memory"))
    )
    assert loaded.status == "returned"
    assert timed.outputs[0] == [[2.0, 4.0, 6.0], [8.0, 10.0, 12.0]]
    assert timed.taken["seconds"] > 0.03
    assert timed.taken["wall"] > 0.03
    assert 0 <= timed.taken["after"] < timed.taken["wall"]
    assert counted.taken["kernels"] == 1
    assert held.taken["peak"] == 24


ELSEWHERE = """
import torch
torch.set_default_device("meta")
def f(x):
    return x * 2
"""


def test_a_default_device_of_the_submissions_own_changes_nothing_of_ours(grader: Grader) -> None:
    calls = [{**call(X), "measure": m} for m in ("", "", "time", "memory", "kernels", "")]
    _, *answers = outcomes(grader, ELSEWHERE, *calls)
    for answer in answers:
        assert (answer.status, answer.error) == ("returned", "")
        assert answer.outputs[0] == [[2.0, 4.0, 6.0], [8.0, 10.0, 12.0]]


EARLY = """
import os
def f(x):
    os.write(3, b"C")
    return x
"""


def test_who_tells_the_end_of_its_work_itself_breaks_the_protocol(grader: Grader) -> None:
    assert outcomes(grader, EARLY, {**call(X), "measure": "time"})[1].status == "protocol"


AGAIN = """
kept = None
def f(x):
    global kept
    if kept is None:
        kept = x * 2
    return kept
"""


def test_a_result_that_is_returned_again_is_gone_after_a_timed_call(grader: Grader) -> None:
    _, first, second = outcomes(grader, AGAIN, *2 * [{**call(X), "measure": "time"}])
    assert first.outputs[0] == [[2.0, 4.0, 6.0], [8.0, 10.0, 12.0]]
    assert all(value != value for row in second.outputs[0] for value in row)


def test_arguments_come_in_the_memory_of_the_last_call_whatever_was_done_to_them(
    grader: Grader,
) -> None:
    source = "seen = []\ndef f(x):\n    seen.append(x.data_ptr())\n    x.resize_(0)\n    return x\n"
    other = {"data": [[9.0]], "dtype": "float32", "shape": [1, 1]}
    _, first, second = outcomes(grader, source, call(X), call(other))
    assert first.inputs_changed == second.inputs_changed == [0]
    told = "seen = []\ndef f(x):\n    seen.append(x.data_ptr())\n    return x * len(set(seen))\n"
    answers = outcomes(grader, told, call(X), call(X), call(X))
    assert answers[-1].outputs[0] == [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]


RUNS = """
import subprocess
def f(x):
    done = subprocess.run(["true"])
    return x * (1 + done.returncode)
"""


def test_programs_can_be_run_for_a_gpu_and_not_for_the_cpu(grader: Grader) -> None:
    _, ran = outcomes(grader, RUNS, call(X))
    if grader.policy.tier < 2 or not grader.policy.compiles:
        pytest.skip("nothing is shut in here, or nothing bounds processes")
    assert (ran.status, ran.denials) == ("returned", []), ran.error
    grader._use_device(False)
    found = grader.prove(sample(calls=[call(X)]), {"source": RUNS.encode()}, [])
    assert found["outcomes"][1]["status"] == "denied"


def test_a_device_that_does_not_start_is_not_run_and_says_why() -> None:
    with Grader(accelerator="absent") as made:
        report = made.grade(small(), TILED.encode(), 5, device="cuda")
    assert (report.verdict, report.score) == ("not_run", 0.0)
    assert "no such device" in report.summary
    assert by_id(report) == {"device/cuda": "not_run"}
