"""What a submission does to itself, and the status that the judge gives to it."""

from __future__ import annotations

import os
import select
import socket
import sys
import time

import pytest
from isolation_harness import X, call, children_of, submit, warm_grader

from grader.feedback.words import say
from grader.isolation.launcher import Child
from grader.isolation.output import Output
from grader.isolation.worker_handle import Worker

GOOD = "def f(x):\n    return x * 2\n"
MIB = 1 << 20


def test_a_good_submission_returns() -> None:
    loaded, called = submit(GOOD, call(X))
    assert (loaded.status, called.status) == ("returned", "returned")
    assert called.outputs == [[[2, 4, 6], [8, 10, 12]]]
    assert called.headers == [{"shape": [2, 3], "dtype": "float32", "kind": "tensor"}]
    assert called.inputs_changed == []


@pytest.mark.parametrize(
    "body",
    [
        "sum(range(10**12))",
        "time.sleep(60)",
        "os.kill(os.getpid(), signal.SIGSTOP)",
        "signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(60)",
        "raise Evil",
    ],
    ids=["c-loop", "sleep", "stopped", "ignores-signals", "endless-str"],
)
def test_what_does_not_end_is_stopped_at_the_limit(body: str) -> None:
    source = (
        "import os, signal, time\n"
        "class Evil(Exception):\n"
        "    def __str__(self):\n        while True: pass\n"
        f"def f(x):\n    {body}\n"
    )
    began = time.monotonic()
    _, called, again = submit(source, call(X), call(X), limits={"seconds": 0.4})
    assert called.status == "timeout"
    assert called.detail == {"limit": 0.4}
    assert (again.status, again.detail) == ("died", {"already": True})
    assert time.monotonic() - began < 1.4


def test_a_module_that_does_not_end_is_stopped_at_the_limit() -> None:
    (loaded,) = submit("while True: pass\n", limits={"seconds": 0.3})
    assert loaded.status == "timeout"


@pytest.mark.parametrize(
    ("body", "detail"),
    [
        ("os._exit(0)", {"exit": 0}),
        ("os._exit(7)", {"exit": 7}),
        ("os.abort()", {"signal": 6}),
        ("ctypes.string_at(0)", {"signal": 11}),
        ("os.kill(os.getpid(), 9)", {"signal": 9}),
    ],
)
def test_a_death_is_told_with_its_signal_or_exit_code(body: str, detail: dict[str, int]) -> None:
    _, called = submit(f"import os, ctypes\ndef f(x):\n    {body}\n", call(X))
    assert called.status == "died"
    assert called.detail == detail


def test_an_exit_while_loading_is_a_death_too() -> None:
    (loaded,) = submit("import os\nprint('bye')\nos._exit(0)\n")
    assert (loaded.status, loaded.detail, loaded.stdout) == ("died", {"exit": 0}, "bye\n")


@pytest.mark.parametrize("body", ["sys.exit(3)", "raise KeyboardInterrupt", "raise Own('no')"])
def test_an_exit_that_is_an_exception_is_an_exception(body: str) -> None:
    source = f"import sys\nclass Own(BaseException): pass\ndef f(x):\n    {body}\n"
    _, called, again = submit(source, call(X), call(X))
    assert called.status == "exception"
    assert called.error.split(":")[0] in ("SystemExit", "KeyboardInterrupt", "Own")
    assert called.line == 4
    assert again.status == "exception"  # the process lives on


def test_a_traceback_shows_the_learners_lines_and_none_of_ours() -> None:
    source = "def g(x):\n    return x @ x\n\ndef f(x):\n    return g(x)\n"
    _, called = submit(source, call(X), filename="my_work.py")
    assert called.status == "exception"
    assert called.error.startswith("RuntimeError: mat1 and mat2 shapes cannot be multiplied")
    assert "return x @ x" in called.traceback
    assert 'File "my_work.py", line 2, in g' in called.traceback
    assert "host.py" not in called.traceback
    assert called.line == 2


def test_an_exception_in_the_module_has_its_line() -> None:
    (loaded,) = submit("import torch\n\ny = undefined\n")
    assert (loaded.status, loaded.line) == ("exception", 3)
    assert loaded.error == "NameError: name 'undefined' is not defined"


def test_an_exception_that_cannot_be_shown_is_still_reported() -> None:
    evil = "class Evil(Exception):\n    def __str__(self): raise SystemExit\n"
    source = f"{evil}def f(x): raise Evil\n"
    _, called = submit(source, call(X))
    assert called.status == "exception"
    assert called.error.startswith("Evil: (its message cannot be shown")


def test_endless_recursion_is_an_exception_with_a_short_traceback() -> None:
    _, called = submit("def f(x):\n    return f(x)\n", call(X))
    assert called.error.startswith("RecursionError")
    assert len(called.traceback.splitlines()) < 20


@pytest.mark.parametrize(
    "body",
    [
        "keep = [torch.ones(64 << 20) for _ in range(9999)]",
        "keep = torch.ones(1 << 40)",
        "keep = np.ones(1 << 40)",
        "keep = bytearray(1 << 40)",
        "keep = []\n    while True: keep.append(' ' * 10_000_000)",
    ],
    ids=["torch", "torch-at-once", "numpy", "bytes", "strings"],
)
def test_memory_beyond_the_limit_is_told_as_such(body: str) -> None:
    source = f"import torch\nimport numpy as np\ndef f(x):\n    {body}\n"
    _, called = submit(source, call(X), limits={"memory_bytes": 1024 * MIB})
    assert called.status == "memory"


def test_an_uncaught_bad_alloc_near_the_limit_is_memory() -> None:
    source = (
        "import os, torch\ndef f(x):\n    keep = [torch.ones(16 << 20) for _ in range(10)]\n"
        "    os.write(2, b\"terminate called after throwing 'std::bad_alloc'\")\n    os.abort()\n"
    )
    _, called = submit(source, call(X), limits={"memory_bytes": 1024 * MIB})
    assert called.status == "memory"


@pytest.mark.parametrize("stream", ["stdout", "stderr"])
def test_a_flood_is_cut_and_its_ends_are_kept(stream: str) -> None:
    source = (
        f"import sys\ndef f(x):\n    print('first', file=sys.{stream})\n"
        f"    while True: sys.{stream}.write('spam ' * 10000)\n"
    )
    began = time.monotonic()
    _, called = submit(source, call(X), limits={"output_bytes": 8 * MIB})
    assert called.status == "output"
    assert called.detail == {"limit": 8 * MIB}
    assert called.stdout.startswith("first\nspam")
    assert "bytes left out" in called.stdout
    assert len(called.stdout) < 18_000
    assert time.monotonic() - began < 2


def test_what_is_printed_comes_back_call_by_call_without_control_characters() -> None:
    source = (
        "print('at load')\n"
        "def f(x):\n    print('call \\x1b[31mred\\x1b[0m\\rACCEPTED\\u202e')\n    return x\n"
    )
    loaded, called, again = submit(source, call(X), call(X))
    assert loaded.stdout == "at load\n"
    assert called.stdout == again.stdout == "call [31mred[0mACCEPTED\n"


@pytest.mark.parametrize(
    ("source", "line", "words"),
    [
        (b"def f(x:\n    return x\n", 1, "SyntaxError"),
        (b"def f(x):\n  return x\n return 2\n", 3, "IndentationError"),
        (b"a = 1\nb = '\0'\n", 2, "NUL"),
        (b"a = 1\nb = '\xff'\n", 2, "utf-8"),
        (b"# coding: no-such-code\n", 1, "unknown encoding"),
        (b"x = " + b"(" * 5000, None, "Error"),
        (b"x = " + b"-" * 200_000 + b"1", None, "nested too deeply"),
    ],
)
def test_a_file_that_is_not_python_has_its_line(source: bytes, line: int, words: str) -> None:
    (loaded,) = submit(source)
    assert loaded.status == "syntax"
    assert words in loaded.error
    assert line is None or loaded.line == line


@pytest.mark.parametrize(
    "source",
    [
        b"\xef\xbb\xbfS = '\xc3\xa9'\ndef f(x):\n    assert len(S) == 1\n    return x\n",
        b"# coding: latin-1\nS = '\xe9'\ndef f(x):\n    assert S == chr(233)\n    return x\n",
        b"def f(x):\r\n    return x\r\n",
    ],
    ids=["bom", "latin-1", "crlf"],
)
def test_pythons_own_encodings_are_read(source: bytes) -> None:
    loaded, called = submit(source, call(X))
    assert (loaded.status, called.status) == ("returned", "returned")


@pytest.mark.parametrize(
    ("source", "status", "words"),
    [
        ("def g(x): pass\ndef h(x): pass\n", "missing", "it defines `g`, `h`"),
        ("x = 1\n", "missing", "it defines no function"),
        ("class f: pass\n", "not-callable", "a class"),
        ("f = 3\n", "not-callable", "a value of type int"),
    ],
)
def test_an_entry_that_is_missing_or_no_function(source: str, status: str, words: str) -> None:
    loaded, called = submit(source, call(X))
    assert loaded.status == status
    assert words in loaded.error
    assert called.status == "exception"


def test_a_main_block_sleeps_and_input_is_empty() -> None:
    source = (
        "import sys\n"
        "if __name__ == '__main__': raise SystemExit('ran')\n"
        "from dataclasses import dataclass\n"
        "@dataclass\nclass Sizes:\n    n: 'int' = 1\n"
        "def f(x):\n    assert sys.stdin.read() == ''\n    return x * Sizes().n\n"
    )
    loaded, called = submit(source, call(X))
    assert (loaded.status, called.status) == ("returned", "returned"), called


@pytest.mark.skipif(not hasattr(os, "O_DIRECT"), reason="no pipes of packets here")
def test_who_goes_on_printing_byte_by_byte_does_not_keep_the_judge() -> None:
    """Each read gives a byte, and another is there before the next one."""
    near, far = os.pipe2(os.O_DIRECT | os.O_NONBLOCK)
    with socket.socket() as channel:
        worker = Worker(None, b"", "f")  # type: ignore[arg-type]
        worker._child = Child(1, 0, None, channel, near, "")
        worker.output = Refilled(far)
        try:
            for _ in range(9):
                os.write(far, b"x")
            assert worker._drain(select.poll(), all_of_it=True)
            assert worker.output.total == 9
        finally:
            os.close(near)
            os.close(far)


class Refilled(Output):
    """Meanwhile as much is written as was read."""

    def __init__(self, far: int) -> None:
        super().__init__()
        self.far = far

    def feed(self, data: bytes) -> None:
        super().feed(data)
        assert self.total < 1000, "it reads for ever"
        os.write(self.far, data)


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells of another's threads")
def test_more_threads_than_the_limit_are_told_where_no_listener_counts() -> None:
    source = (
        "import threading, time\ndef f(x):\n    for _ in range(200):\n"
        "        threading.Thread(target=time.sleep, args=(9,), daemon=True).start()\n"
        "    time.sleep(9)\n"
    )
    _, called = submit(source, call(X))
    assert (called.status, called.detail) == ("resource", {"limit": "processes"}), called


def test_a_limit_in_the_second_process_is_told_as_the_limit_that_it_is() -> None:
    outcome = {"status": "resource", "verdict": "resource_limit", "detail": {"limit": "processes"}}
    assert say("repeatable", how="load", **outcome).startswith("It started more threads")


@pytest.mark.parametrize(
    "ending",
    [
        "import atexit, time\natexit.register(time.sleep, 99)\n",
        "import threading, time\nthreading.Thread(target=time.sleep, args=(99,)).start()\n",
    ],
    ids=["atexit", "thread"],
)
def test_what_would_delay_an_exit_delays_nothing(ending: str) -> None:
    began = time.monotonic()
    _, called = submit(ending + GOOD, call(X))
    assert called.status == "returned"
    assert time.monotonic() - began < 1


def test_a_shut_channel_or_foreign_bytes_on_it_are_a_breach_of_the_protocol() -> None:
    for body in ("os.close(3); time.sleep(5)", "os.write(3, b'?'); time.sleep(5)"):
        _, called = submit(f"import os, time\ndef f(x):\n    {body}\n", call(X))
        assert called.status == "protocol", body


def test_a_forged_done_finds_no_answer() -> None:
    _, called = submit("import os\ndef f(x):\n    os.write(3, b'D'); os._exit(0)\n", call(X))
    assert called.status == "protocol"
    assert called.outputs == []


def test_shared_memory_that_is_cut_short_is_a_breach_of_the_protocol() -> None:
    source = (
        "import contextlib, os, time\ndef f(x):\n"
        "    for n in range(4, 64):\n"
        "        with contextlib.suppress(OSError): os.ftruncate(n, 0)\n"
        "    os.write(3, b'D')\n    time.sleep(5)\n"
    )
    _, called = submit(source, call(X))
    assert (called.status, called.error) == ("protocol", "the shared memory was cut short")


def test_after_each_of_them_the_next_submission_is_judged_as_ever() -> None:
    for bad in ("import os; os._exit(1)", "import os; os.abort()", "1/0", "def f(:", "os.x"):
        submit(bad)
        assert submit(GOOD, call(X))[1].status == "returned"
    zygote = warm_grader()._zygote
    assert zygote is not None
    assert len(children_of(zygote.pid)) == 1  # the judge
