"""Submissions that fight the code around them: each ends with its own status, and tells no lies."""

from __future__ import annotations

import textwrap
import time
from typing import Any

import pytest
from isolation_harness import HERE, Answer, X, call, question, submit, warm_grader

from grader.session import Grader, GraderFault

HEAD = "import ctypes, os, signal, struct, sys, time\nimport torch\n"
GOOD = "def f(x):\n    return x * 2\n"
SLAB = """
def slabs():
    for line in open('/proc/self/maps'):
        if 'memfd:drill' in line:
            yield int(line.split('-')[0], 16)
def head(status, values):
    return struct.pack('<4sBBHiIIIIQQ', b'drl1', status, 0, 0, 0, values, 0, 0, 0, 0, 0)
def value(kind, dtype, shape, copy, name=b''):
    rest = [0] * (16 - len(shape))
    return struct.pack('<BBBb16q48s', kind, dtype, len(shape), copy, *shape, *rest, name)
def forge(*parts):
    for base in slabs():
        for at, data in parts: ctypes.memmove(base + at, data, len(data))
    os.write(3, b'D')
    time.sleep(5)
"""


def attack(body: str, before: str = "", **changes: Any) -> Answer:
    """The outcome of a call whose body is `body`; what it returns is wrong."""
    inner = textwrap.indent(textwrap.dedent(body).strip(), "    ")
    source = f"{HEAD}{before}\ndef f(x):\n{inner}\n    return torch.zeros_like(x)\n"
    called = submit(source, call(X), **changes)[1]
    for ours in ("host.py", "zygote.py", "drill_child", "answers.py"):
        assert ours not in called.stdout + called.error + called.traceback, called
    return called


@pytest.mark.parametrize(
    ("parts", "words"),
    [
        ("(0, head(1, 1)), (512, value(0, 9, (2, 3), -1))", "claims to fit"),
        ("(0, head(1, 1)), (512, value(0, 9, (2, 2), 0))", "claims to fit"),
        ("(0, head(1, 1)), (512, value(1, 9, (2, 3), 0))", "claims to fit"),
        ("(0, head(1, 1)), (512, value(0, 9, (-2, 3), 0))", "out of range"),
        ("(0, head(1, 1)), (512, value(9, 9, (2, 3), 0))", "out of range"),
        ("(0, head(1, 1)), (512, value(0, 0, (2, 3), 0, b'float32'))", "out of range"),
        ("(0, head(1, 1)), (512, value(0, 0, (2, 3), 0, b'float8'))", "claims to fit"),
        ("(0, head(1, 2**32 - 1))", "out of range"),
        ("(0, head(4, 0))", "answered like a load"),
        ("(0, head(5, 0))", "answered like a load"),
        ("(0, head(77, 0))", "no status"),
    ],
)
def test_a_forged_answer_is_a_breach_of_the_protocol(parts: str, words: str) -> None:
    called = attack(f"forge({parts})", SLAB)
    assert called.status == "protocol"
    assert words in called.error
    assert called.outputs == []


def test_a_refusal_that_names_nothing_is_no_refusal() -> None:
    called = attack("os.write(3, b'F')")
    assert (called.status, called.error) == ("protocol", "a refusal without an operation")


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("os.close(3)", "shut or replaced"),
        ("os.dup2(os.pipe()[1], 3)", "shut or replaced"),
        ("import mmap; mmap.mmap = None; return x", ""),
        ("import builtins; builtins.min = lambda *a: -5; return x", "broke the code"),
        ("sys.modules['drill_child.wire'].MAGIC = 7; return x", "broke the code"),
    ],
)
def test_what_breaks_the_code_that_answers_is_said_without_our_traceback(
    body: str, words: str
) -> None:
    source = f"{HEAD}def f(x):\n    {body}\n"
    found = [outcome for outcome in submit(source, call(X), call(X)) if outcome.status != "died"]
    assert found[-1].status == "protocol", found
    assert words in found[-1].error
    assert "Traceback" not in "".join(outcome.stdout for outcome in found)


@pytest.mark.parametrize(
    ("raised", "before", "words"),
    [
        ("E", "class E(Exception): __class__ = property(lambda s: 1 / 0)", "E"),
        ("E", "class E(Exception):\n    def __str__(s): return S('hi')", "E: hi"),
        ("E", "class E(Exception, metaclass=M): pass", "n"),
        ("SyntaxError('x', ('submission.py', 'abc', 1, 'text'))", "", "SyntaxError: x"),
        ("SyntaxError('x', ('submission.py', 2**40, 1, 'text'))", "", "SyntaxError: x"),
        ("SyntaxError('x', ('submission.py', 3, 1, 5))", "", "cannot be shown"),
        ("exec(compile('1/0', 'other', 'exec'), {'__loader__': L()})", "", "ZeroDivisionError"),
    ],
)
def test_an_exception_that_fights_back_is_an_exception(
    raised: str, before: str, words: str
) -> None:
    evil = (
        "class S(str):\n    def encode(s, *a): raise KeyboardInterrupt\n"
        "class M(type): __name__ = property(lambda s: S('n'))\n"
        "class L:\n    def get_source(s, name): raise SystemExit\n"
    )
    called = attack(f"raise {raised}", evil + before, filename="submission.py")
    assert called.status == "exception"
    assert words in called.error
    assert called.line is None or called.line < 100


def test_a_deep_traceback_is_short_and_quick_and_counts_right() -> None:
    source = (
        f"{HEAD}sys.setrecursionlimit(50_000)\n"
        "def g(n):\n    return h(n - 1) if n > 0 else 1 / 0\n"
        "def h(n):\n    return g(n - 1)\n"
        "def k(n):\n    return k(n - 1) if n else 1 / 0\n"
        "def f(x):\n    g(30_000) if x.dim() == 2 else k(100)\n"
    )
    _, mutual, straight = submit(source, call(X), call({**X, "shape": [6]}))
    assert mutual.seconds < 1
    # 30,002 calls of f, g and h, of which 20 are shown at each end.
    assert "[29962 calls left out]" in mutual.traceback
    assert len(mutual.traceback.splitlines()) < 140
    # One call of f, 101 of k: the last one is on its line too.
    assert "[Previous line repeated 98 more times]" in straight.traceback


def test_a_coroutine_is_closed_without_a_warning() -> None:
    _, called = submit("async def f(x):\n    return x\n", call(X))
    assert (called.headers[0]["kind"], called.stdout) == ("coroutine", "")


def test_a_type_that_lies_about_its_name_is_named_as_it_is() -> None:
    called = attack("return X()", "class M(type): __name__ = 7\nclass X(metaclass=M): pass")
    assert called.headers[0]["kind"] == "X"


def test_other_words_for_no_memory_are_memory_too() -> None:
    called = attack("import mmap; mmap.mmap(-1, 1 << 40)")
    assert called.status == "memory"
    backward = (
        "class Bad(torch.autograd.Function):\n"
        "    @staticmethod\n    def forward(ctx, x): return x * 2\n"
        "    @staticmethod\n    def backward(ctx, g): return torch.empty(1 << 45)\n"
        "def f(x): return Bad.apply(x)\n"
    )
    _, called = submit(HEAD + backward, call(X, gradients=[0], cotangents=[X]))
    assert called.status == "memory"


def test_no_descriptors_left_is_a_limit_on_files() -> None:
    source = (
        "import contextlib, os\nkept = []\ndef f(x):\n"
        "    with contextlib.suppress(OSError):\n        while True: os.dup(0)\n    return x\n"
    )
    _, first, second = submit(source, call(X), call(X))
    assert first.status == "returned"
    assert (second.status, second.detail) == ("resource", {"limit": "files"})


def test_every_codec_that_cannot_decode_is_a_syntax_error() -> None:
    for name in ("undefined", "punycode", "hex", "utf-32"):
        (loaded,) = submit(f"# coding: {name}\n{GOOD}\xff".encode("latin-1"))
        assert loaded.status == "syntax", name


def test_a_form_feed_does_not_shift_the_lines_of_a_traceback() -> None:
    source = 's = "\x0c \x1c \u2028"\n\x0c\ndef f(x):\n    return x + y\n'
    _, called = submit(source, call(X))
    assert called.line == 4
    assert "return x + y" in called.traceback


def test_lifted_standard_streams_do_no_harm() -> None:
    for body in ("del sys.stdout, sys.stderr", "sys.stdout.close()", "os.close(1); os.close(2)"):
        _, called = submit(f"import os, sys\n{body}\n{GOOD}", call(X))
        assert called.status == "returned", body


FAMILY = """
def parent(pid):
    return int(open(f'/proc/{pid}/stat').read().rpartition(')')[2].split()[1])
zygote = os.getppid()
session = parent(zygote)
def judge():
    for name in os.listdir('/proc'):
        if name.isdigit() and int(name) != os.getpid():
            try:
                if parent(name) == zygote: return int(name)
            except OSError: pass
"""


@pytest.mark.parametrize("who", ["zygote", "session", "judge()"])
def test_memory_and_environment_of_our_processes_are_closed(who: str) -> None:
    called = attack(
        f"""
        assert {who} > 1
        for name, mode in (('mem', 'rb'), ('mem', 'r+b'), ('environ', 'rb'), ('maps', 'rb')):
            try: open(f'/proc/{{{who}}}/{{name}}', mode, buffering=0).read(1)
            except PermissionError: continue
            assert False, name
        libc = ctypes.CDLL(None, use_errno=True)
        libc.ptrace.restype = ctypes.c_long
        assert libc.ptrace(16, {who}, 0, 0) == -1
        pidfd = libc.syscall(434, {who}, 0)
        assert pidfd >= 0 and libc.syscall(438, pidfd, 0, 0) == -1
        """,
        FAMILY,
    )
    assert called.status == "returned", called


def test_a_root_without_powers_stays_so_also_in_other_programs() -> None:
    called = attack(
        """
        import subprocess
        for where in (open('/proc/self/status').read(),
                      subprocess.check_output(['/bin/cat', '/proc/self/status'], text=True)):
            held = [line.split()[1] for line in where.splitlines() if 'CapEff' in line]
            assert int(held[0], 16) in (0, 1 << 2), held
        assert open('/proc/self/oom_score_adj').read() == '500\\n'
        """
    )
    assert called.status == "returned", called


def test_a_stopped_zygote_or_judge_goes_on() -> None:
    began = time.monotonic()
    limits = {"seconds": 0.5}
    assert attack("os.kill(zygote, signal.SIGSTOP)", FAMILY, limits=limits).status == "returned"
    assert attack("os.kill(judge(), signal.SIGSTOP)", FAMILY, limits=limits).status == "returned"
    body = "os.kill(zygote, signal.SIGSTOP); os.kill(judge(), signal.SIGSTOP); time.sleep(9)"
    assert attack(body, FAMILY, limits=limits).status == "timeout"
    assert time.monotonic() - began < 4.5


def test_a_killed_judge_is_told_as_such_and_the_next_grade_works() -> None:
    with pytest.raises(GraderFault, match=r"was killed \(signal 9\).*held against your answer"):
        attack("os.kill(judge(), signal.SIGKILL); time.sleep(9)", FAMILY)
    assert submit(GOOD, call(X))[1].status == "returned"


def test_a_judge_that_was_crippled_is_replaced() -> None:
    body = "import resource; resource.prlimit(judge(), resource.RLIMIT_NOFILE, (3, 3))"
    assert attack(body, FAMILY).status == "returned"
    with pytest.raises(GraderFault, match="Too many open files"):
        submit(GOOD)
    assert submit(GOOD, call(X))[1].status == "returned"


def test_a_pass_with_a_check_that_did_not_pass_is_a_fault() -> None:
    with Grader({"grade": "isolation_script:careless"}, [HERE]) as grader:
        for state in ("skipped", "none"):
            report = grader.grade(question(state=state), b"x = 1\n")
            assert report.verdict == "grader_error"
            assert "a pass without" in report.summary
    assert warm_grader().handlers["grade"].startswith("grader.judging")
