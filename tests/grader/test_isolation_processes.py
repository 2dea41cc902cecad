"""A submission's process shares nothing with the judge, and leaves nothing behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest
from isolation_harness import (
    HERE,
    X,
    call,
    gone_within,
    processes_with,
    submit,
    tensor,
    warm_grader,
)

ROOT = Path(__file__).resolve().parents[2]


def check(body: str, **changes: object) -> object:
    """Run a body whose assertions are the test; returns the call's outcome."""
    inner = textwrap.indent(textwrap.dedent(body), "    ")
    source = f"import os, sys\ndef f(x):\n{inner}\n    return x\n"
    loaded, called = submit(source, call(X), **changes)
    assert called.status == "returned", (loaded.error, called.error, called.traceback)
    return called


@pytest.mark.parametrize("name", ["reference", "reference.attention", "grader.session", "drills"])
def test_our_packages_cannot_be_imported(name: str) -> None:
    (loaded,) = submit(f"import {name}\n")
    assert loaded.status == "exception"
    assert "a submission stands on its own" in loaded.error
    # Also where they are installed beside torch, that is, on the path.
    (loaded,) = submit(f"import sys\nsys.path.insert(0, {str(ROOT)!r})\nimport {name}\n")
    assert "a submission stands on its own" in loaded.error


def test_nothing_of_the_judging_side_is_in_the_process() -> None:
    check(
        """
        import gc, types
        ours = [m for m in sys.modules if m.split('.')[0] in ('grader', 'reference', 'questions')]
        assert not ours, ours
        loaded = {m.__name__.split('.')[0] for m in gc.get_objects()
                  if isinstance(m, types.ModuleType)}
        assert not loaded & {'grader', 'reference', 'questions', 'drills'}
        """
    )


def test_frames_and_memory_hold_no_expected_value_and_no_seed() -> None:
    secret = 918273645
    source = """
        import gc
        def f(x):
            seen, frame = [], sys._getframe()
            while frame:
                seen.append(repr(frame.f_locals)); frame = frame.f_back
            text = ' '.join(seen)
            assert 'seed' not in text and 'cotangent' not in text.replace("'cotangents': []", '')
            tensors = [o for o in gc.get_objects() if type(o).__name__ == 'Tensor']
            assert len(tensors) < 5, tensors
            assert str(918273645) not in text.replace('str(918273645)', '')
            return x
        """
    from isolation_harness import question

    asked = question(calls=[call(X)])
    code = "import sys\n" + textwrap.dedent(source)
    found = warm_grader().prove(asked, {"source": code.encode()}, [secret])["outcomes"][1]
    assert found["status"] == "returned", found


def test_the_environment_is_cleared_and_the_folder_is_fresh() -> None:
    os.environ["DRILL_TEST_TOKEN"] = "secret"
    try:
        called = check(
            """
            allowed = {'OMP_NUM_THREADS', 'MKL_NUM_THREADS', 'OPENBLAS_NUM_THREADS', 'LC_CTYPE',
                       'TORCHDYNAMO_DISABLE',
                       'VECLIB_MAXIMUM_THREADS', 'LD_LIBRARY_PATH', 'HOME', 'TMPDIR', 'USER'}
            assert set(os.environ) <= allowed, set(os.environ) - allowed
            try: assert b'secret' not in open('/proc/self/environ', 'rb').read()
            except PermissionError: pass  # closed to anyone but root, as it should be
            assert os.listdir('.') == [] and os.getcwd() == os.environ['HOME']
            open('left', 'w').write('x')
            print(os.getcwd())
            """
        )
    finally:
        del os.environ["DRILL_TEST_TOKEN"]
    folder = Path(called.stdout.strip())
    assert not folder.exists()
    assert folder.parent.exists()


def test_only_its_own_descriptors_are_open_and_the_limits_stand() -> None:
    check(
        """
        import resource, torch
        def get(name): return resource.getrlimit(getattr(resource, name))[0]
        kinds = {}
        for n in range(256):
            try: kinds[n] = os.fstat(n)
            except OSError: pass
        import stat
        assert kinds.pop(0).st_rdev == os.stat('/dev/null').st_rdev
        assert stat.S_ISFIFO(kinds[1].st_mode) and kinds.pop(1) == kinds.pop(2)
        assert stat.S_ISSOCK(kinds.pop(3).st_mode)
        # What is left is the shared memory of this one call.
        assert len(kinds) <= 1 and all(stat.S_ISREG(k.st_mode) for k in kinds.values()), kinds
        assert (get('RLIMIT_AS'), get('RLIMIT_FSIZE')) == (4 << 30, 64 << 20)
        assert (get('RLIMIT_CORE'), get('RLIMIT_NOFILE')) == (0, 256)
        assert torch.get_num_threads() == 1
        assert os.getsid(0) == os.getpid() == os.getpgid(0)
        assert 'NoNewPrivs:\\t1' in open('/proc/self/status').read()
        """
    )


def test_a_file_beyond_the_limit_is_a_limit_on_the_disk() -> None:
    _, called = submit(
        "def f(x):\n    open('big', 'wb').write(b'0' * (2 << 20))\n    return x\n",
        call(X),
        limits={"file_bytes": 1 << 20},
    )
    assert (called.status, called.detail) == ("resource", {"limit": "disk"})
    assert "File too large" in called.error


STRAYS = """
import os, subprocess, sys, time
def spawn(mark):
    subprocess.Popen(['sleep', mark])
    subprocess.Popen(['sleep', mark], start_new_session=True)
    if os.fork() == 0:  # a daemon: its parent is gone, its session its own
        os.setsid()
        if os.fork() == 0:
            os.execvp('sleep', ['sleep', mark])
        os._exit(0)
"""


@pytest.mark.parametrize("ending", ["return x", "os._exit(0)", "time.sleep(60)"])
def test_no_process_of_a_submission_survives_it(ending: str) -> None:
    mark = f"4711.{os.getpid()}"
    source = (
        f"{STRAYS}\ndef f(x):\n    os.environ['PATH'] = '/usr/bin:/bin'\n    spawn({mark!r})\n"
        f"    time.sleep(0.05)\n    {ending}\n"
    )
    submit(source, call(X), limits={"seconds": 0.5})
    assert processes_with(mark) == []
    assert submit("def f(x): return x\n", call(X))[1].status == "returned"


OUTSIDE = """
import sys
sys.path[:0] = [{root!r}, {here!r}]
from grader.session import Grader
from isolation_harness import question, call, X
source = {source!r}
with Grader(handlers={{"prove": "isolation_script:run"}}, paths=[{here!r}], highest=0) as grader:
    grader.start()
    print(grader._zygote.pid, flush=True)
    asked = question(calls=[call(X)], limits={{"seconds": 50}})
    grader.prove(asked, {{"source": source.encode()}}, [])
"""


@pytest.mark.parametrize("kill", [signal.SIGKILL, signal.SIGINT, signal.SIGTERM])
def test_the_death_of_the_command_ends_everything(kill: signal.Signals) -> None:
    mark = f"4712.{os.getpid()}{int(kill)}"
    hang = (
        f"{STRAYS}\ndef f(x):\n    os.environ['PATH'] = '/usr/bin:/bin'\n    spawn({mark!r})\n"
        "    time.sleep(60)\n"
    )
    script = OUTSIDE.format(root=str(ROOT), here=HERE, source=hang)
    command = [sys.executable, "-c", script]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as process:
        assert process.stdout is not None
        zygote = int(process.stdout.readline())
        deadline = time.monotonic() + 15
        while len(processes_with(mark)) < 3 and time.monotonic() < deadline:
            time.sleep(0.02)
        assert len(processes_with(mark)) >= 3
        numbers = [int(name) for name in os.listdir("/proc") if name.isdigit()]
        session = [pid for pid in numbers if _session(pid) == zygote]
        assert len(session) == 2  # the zygote and the judge
        process.send_signal(kill)
        process.wait(10)
    assert gone_within(3, mark)
    deadline = time.monotonic() + 3
    while any(_session(pid) == zygote for pid in session) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert not [pid for pid in session if _session(pid) == zygote]


def test_a_kill_while_torch_is_imported_ends_everything_at_once() -> None:
    script = OUTSIDE.format(root=str(ROOT), here=HERE, source="")
    with subprocess.Popen(
        [sys.executable, "-c", script], stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        zygote = int(process.stdout.readline())
        time.sleep(0.25)
        assert Path(f"/proc/{zygote}").exists()
        process.kill()
        process.wait(10)
    deadline = time.monotonic() + 2
    while _session(zygote) == zygote and time.monotonic() < deadline:
        time.sleep(0.02)
    assert _session(zygote) != zygote


def test_the_zygote_has_one_thread_and_only_the_judge_below_it() -> None:
    submit("def f(x): return x\n")
    zygote = warm_grader()._zygote
    assert zygote is not None
    assert len(os.listdir(f"/proc/{zygote.pid}/task")) == 1
    modules = Path(f"/proc/{zygote.pid}/cmdline").read_bytes().split(b"\0")
    assert str(ROOT).encode() not in [m for m in modules if not m.endswith(b".py")]


def test_a_large_argument_and_output_cross_whole() -> None:
    n = 1 << 18
    given = call(tensor([1.0] * n), outputs=[[[n], ["float32"]]])
    _, called = submit("def f(x): return x.cumsum(0)\n", given)
    assert called.outputs[0][-1] == n


def _session(pid: int) -> int:
    """The session of a process that is no zombie; 0 where there is none."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0
    return 0 if fields[0] == "Z" else int(fields[3])
