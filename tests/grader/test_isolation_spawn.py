"""The ways of macOS, gone on Linux with real processes as far as Linux can: spawn instead of fork,
memory looked at from outside, `sandbox-exec` around each submission (here a stand-in)."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from isolation_harness import HERE, Answer, X, call, children_of, gone_within, question

from grader.feedback.words import say
from grader.isolation import endings, examine, folders, policy, seatbelt, slab
from grader.isolation.calls import Outcome
from grader.isolation.child import sandbox
from grader.isolation.resident import resident_bytes
from grader.session import Grader

PROBLEM: dict[str, Any] = {"prove": "isolation_script:run", "grade": "isolation_script:die"}


@pytest.fixture(scope="module")
def mac() -> Iterator[pytest.MonkeyPatch]:
    """The platform as it would be, without a sandbox."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(policy, "PLATFORM", "darwin")
        patch.setenv("PATH", "/nonexistent")
        yield patch


@pytest.fixture(scope="module")
def grader(mac: pytest.MonkeyPatch) -> Iterator[Grader]:
    with Grader(handlers=PROBLEM, paths=[HERE]) as grader:
        yield grader


def submit(grader: Grader, source: str, *calls: dict[str, Any], **changes: Any) -> list[Answer]:
    asked = question(calls=list(calls), **changes)
    found = grader.prove(asked, {"source": source.encode()}, [])
    return [Answer(outcome) for outcome in found["outcomes"]]


def test_an_honest_submission_passes_in_a_process_of_its_own(grader: Grader) -> None:
    source = (
        "import os, sys, threading\n"
        "def f(x):\n"
        "    assert os.getsid(0) == os.getpid() and threading.active_count() == 1\n"
        "    assert sorted(os.listdir('/proc/self/fd'))[:4] == ['0', '1', '2', '3']\n"
        "    assert len(os.listdir('/proc/self/fd')) <= 6, 'a descriptor came along'\n"
        "    assert os.path.basename(os.path.dirname(os.getcwd())).startswith('drill-')\n"
        "    assert 'grader' not in sys.modules\n"
        "    print('hello')\n"
        "    return x * 2\n"
    )
    loaded, called = submit(grader, source, call(X, gradients=[], cotangents=[]))
    assert (loaded.status, called.status) == ("returned", "returned"), called.error
    assert called.outputs[0] == [[2.0, 4.0, 6.0], [8.0, 10.0, 12.0]]
    assert called.stdout == "hello\n"
    zygote = grader._zygote
    assert zygote is not None
    assert "libtorch" not in Path(f"/proc/{zygote.pid}/maps").read_text()
    assert len(children_of(zygote.pid)) == 1  # the judge


ENDINGS: dict[str, tuple[str, dict[str, Any], str, dict[str, Any]]] = {
    "an exception": ("1 / 0", {}, "exception", {}),
    "a loop": ("\n    while True: pass", {"limits": {"seconds": 0.4}}, "timeout", {"limit": 0.4}),
    "an exit": ("os._exit(3)", {}, "died", {"exit": 3}),
    "a crash": ("os.abort()", {}, "died", {"signal": 6}),
    "a hog": (
        "\n    kept = []\n    while True: kept.append(b'x' * (1 << 24)); time.sleep(0.005)",
        {"limits": {"memory_bytes": 700 << 20}},
        "memory",
        {"limit": 700 << 20},
    ),
}


@pytest.mark.parametrize("what", ENDINGS)
def test_what_ends_a_call_is_known_from_outside(grader: Grader, what: str) -> None:
    statement, changes, status, detail = ENDINGS[what]
    source = f"import os, time\ndef f(x):\n    {statement}\n"
    _, called = submit(grader, source, call(X), **changes)
    assert (called.status, called.detail) == (status, detail), called.error
    zygote = grader._zygote
    assert zygote is not None
    assert len(children_of(zygote.pid)) == 1


def test_a_ruled_out_operation_is_forbidden_though_the_refusal_is_caught(grader: Grader) -> None:
    source = (
        "import torch.nn.functional as F\n"
        "def f(x):\n"
        "    y = x[None, None]\n"
        "    try: return F.scaled_dot_product_attention(y, y, y)[0, 0]\n"
        "    except RuntimeError: return x\n"
    )
    _, called = submit(grader, source, call(X))
    assert (called.status, called.line) == ("forbidden", 4)


def test_the_judges_death_is_our_fault_and_the_next_grade_works(grader: Grader) -> None:
    before = grader._zygote
    report = grader.grade(question(), b"def f(x): return x\n")
    assert report.verdict == "grader_error"
    assert "The grader was killed (signal 9)" in report.summary
    assert grader._zygote is not before
    assert submit(grader, "def f(x): return x\n", call(X))[1].status == "returned"


def test_a_report_says_that_nobody_saw_this_on_macos(grader: Grader) -> None:
    grader.start()
    lines = grader.policy.layers(10.0)
    assert lines[0] == "tier 1 of 3: limits alone"
    assert any(line.startswith("no test of this on macOS yet") for line in lines)
    assert any("(sandbox-exec is not installed)" in line for line in lines)


def test_nothing_is_left_when_the_session_ends_in_the_midst(mac: pytest.MonkeyPatch) -> None:
    """Its child is killed although it leads no process group yet."""
    script = (
        f"import os, sys, threading, time\nsys.path[:0] = {[str(Path(HERE).parents[1]), HERE]!r}\n"
        "from grader.isolation import policy\npolicy.PLATFORM = 'darwin'\n"
        "from grader.session import Grader\nfrom isolation_harness import question\n"
        f"grader = Grader({PROBLEM!r}, [{HERE!r}])\n"
        "grader.start()\nprint(grader._scratch, flush=True)\n"
        f"grader.prove(question(), {{'source': b'import time; time.sleep(60)'}}, [])\n"
    )
    environment = {"PATH": "/nonexistent"}
    with subprocess.Popen(
        [sys.executable, "-c", script], stdout=subprocess.PIPE, text=True, env=environment
    ) as process:
        assert process.stdout is not None
        scratch = process.stdout.readline().strip()
        pid = process.pid
        (zygote,) = children_of(pid)
        deadline = time.monotonic() + 20
        while len(children_of(zygote)) < 2 and time.monotonic() < deadline:
            time.sleep(0.02)
        assert len(children_of(zygote)) == 2  # the judge, and a submission that imports torch
        process.kill()
    assert gone_within(3, scratch)
    assert not Path(scratch).exists()


def test_a_process_ends_with_its_parent_where_the_kernel_does_not_see_to_it() -> None:
    script = (
        f"import os, sys, time\nsys.path.insert(0, {str(Path(sandbox.__file__).parents[1])!r})\n"
        "from child import sandbox\n"
        "parent = os.getpid()\n"
        "if os.fork() == 0:\n"
        "    sys.platform = 'darwin'\n"
        "    sandbox.die_with_parent(parent)\n"
        "    print(os.getpid(), flush=True)\n"
        "    while True: pass\n"
        "time.sleep(60)\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", script], stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        child = int(process.stdout.readline())
        assert Path(f"/proc/{child}").exists()
        process.kill()
    deadline = time.monotonic() + 3
    while resident_bytes(child) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert not resident_bytes(child)


def test_children_are_waited_for_where_python_has_no_waitid(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from grader.isolation import waits

    monkeypatch.delattr(os, "waitid")
    for code, killed in (("import time; time.sleep(60)", 9), ("raise SystemExit(7)", 0)):
        for wait in (waits.reap, waits.ended_by):
            child = subprocess.Popen([sys.executable, "-I", "-S", "-c", code])
            if killed:
                assert wait(child.pid) is None
                assert not waits.is_stopped(child.pid)
                child.kill()
            end = None
            while end is None:
                end = wait(child.pid)
            child.returncode = 0  # it is reaped
            if isinstance(end, waits.End):
                assert os.WIFSIGNALED(end.status) == bool(killed)
                assert end.resident_kib > 1000
            else:
                assert end == killed
                assert waits.ended_by(child.pid) == 0


def test_a_slab_needs_no_memfd(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(os, "memfd_create")
    monkeypatch.delattr(os, "preadv")
    with slab.load_slab(b"x = 1\n", "f", "a.py", "torch", {}) as made:
        assert os.fstat(made.descriptor).st_nlink == 0
        assert not os.get_inheritable(made.descriptor)
        assert bytes(made.read(made.request["at"], 6)) == b"x = 1\n"


def test_a_refusal_that_nobody_hears_of_is_not_given_a_name() -> None:
    error = "PermissionError: [Errno 1] Operation not permitted"
    outcome = endings.refused(Outcome("exception", error=error), "/scratch", told=False)
    assert (outcome.status, outcome.detail) == ("denied", {"tried": "unnamed"})
    assert say("denied", note="unnamed").startswith("It tried to do something that the sandbox")


def test_memory_is_read_from_outside() -> None:
    assert resident_bytes(os.getpid()) > 1 << 20
    assert resident_bytes(1 << 30) == 0


# The profile of `sandbox-exec`.


def rules(text: str) -> dict[str, str]:
    """Each rule's filters, by what it allows or denies."""
    found = {}
    for rule in text.strip().split("\n(")[1:]:
        what, bracket, filters = rule.strip("(").partition("(")
        found[what.strip().rstrip(")")] = bracket + filters.removesuffix(")")
    return found


def test_the_profile_denies_all_but_what_it_names() -> None:
    text = seatbelt.profile(["/usr/lib", "/opt/torch"], ["/opt/python3"])
    assert text.startswith("(version 1)\n(deny default)\n")
    assert "allow default" not in text
    found = rules(text)
    assert 'subpath "/opt/torch"' in found["allow file-read*"]
    assert found["allow file-write*"] == '(subpath (param "SCRATCH"))'
    assert found["allow file-write-data"] == '(literal "/dev/null")'
    assert found["allow process-exec"] == '(literal "/opt/python3")'
    assert found["allow signal process-info*"] == "(target self)"
    assert {"deny network*", "deny process-fork"} <= set(found)
    unrestricted = {name for name, filters in found.items() if not filters}
    assert unrestricted == {
        "deny default",
        "deny network*",
        "deny process-fork",
        "allow file-read-metadata",
    }
    assert not [name for name in found if "allow network" in name or "allow process-fork" in name]
    assert text.count("(") == text.count(")")


@pytest.mark.parametrize(
    ("path", "written"),
    [
        ("/a b", '"/a b"'),
        ('/a"b', '"/a\\"b"'),
        ("/a\\b", '"/a\\\\b"'),
        ('/a\\"', '"/a\\\\\\""'),
        ("/a)(allow default)", '"/a)(allow default)"'),
        ("/a;b #", '"/a;b #"'),
        ("/Völker/注意", '"/Völker/注意"'),
    ],
)
def test_a_path_stays_a_string_of_the_profile(path: str, written: str) -> None:
    assert seatbelt.quoted(path) == written
    strings = r'"(?:[^"\\]|\\["\\])*"'
    assert re.fullmatch(strings, written)
    bare = re.sub(strings, '""', seatbelt.profile([path], [path]))
    assert "allow default" not in bare
    assert bare == re.sub(strings, '""', seatbelt.profile(["/plain"], ["/plain"]))


@pytest.mark.parametrize("path", ["/a\nb", "/a\0b", "/a\x1b[0m", "/a\u202eb"])
def test_a_path_that_no_rule_can_name_is_refused(path: str) -> None:
    with pytest.raises(seatbelt.Unavailable, match="no sandbox rule can name"):
        seatbelt.profile([path], ["/python"])


def test_a_rule_without_a_filter_would_hold_for_everything() -> None:
    with pytest.raises(ValueError, match="allow process-exec"):
        seatbelt.profile(["/usr/lib"], [])


def test_what_is_ours_is_closed_but_what_a_submission_begins_with() -> None:
    readable = folders.readable_on_macos()
    here = os.path.dirname(os.path.realpath(folders.__file__))
    ours = [path for path in readable if path.startswith(os.path.dirname(here))]
    assert sorted(ours) == [os.path.join(here, name) for name in ("child", "spawn.py", "zygote.py")]
    for package in map(os.path.realpath, folders.packages()):
        assert not [path for path in readable if package.startswith(os.path.join(path, ""))]
    assert folders.programs()[0] == os.path.realpath(sys.executable)


# The tier.


def stand_in(folder: Path, body: str) -> Path:
    program = folder / "sandbox-exec"
    program.write_text(f"#!/bin/sh\n{body}\n")
    program.chmod(0o755)
    return program


RECORDS = 'for part in "$@"; do printf \'%s\\0\' "$part"; done > "{}.$$"\nshift 4\nexec "$@"'


def test_a_submission_is_started_by_sandbox_exec(mac: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A stand-in that writes down its arguments and does nothing else."""
    program = stand_in(tmp_path, RECORDS.format(tmp_path / "seen"))
    mac.setenv("PATH", str(tmp_path))
    try:
        with Grader(handlers=PROBLEM, paths=[HERE]) as grader:
            source = "import os\nprint(os.getcwd())\ndef f(x): return x\n"
            loaded, called = submit(grader, source, call(X))
            chosen = grader.policy
    finally:
        mac.setenv("PATH", "/nonexistent")
    assert called.status == "returned"
    seen = [path.read_text().split("\0")[:-1] for path in tmp_path.glob("seen.*")]
    trial, started = sorted(seen, key=lambda line: "spawned" in line)
    text = seatbelt.profile(folders.readable_on_macos(), folders.programs())
    assert started[:3] == ["-p", text, "-D"]
    assert started[3] == f"SCRATCH={os.path.realpath(loaded.stdout.strip())}"
    assert started[4:10] == [sys.executable, "-I", "-S", "-B", "-X", "utf8"]
    assert started[-3:-1] == ["spawned", "submission"]
    assert trial[:4] == ["-p", text, "-D", "SCRATCH=/nonexistent"]
    assert trial[4] == sys.executable
    assert (chosen.tier, chosen.wrap[0]) == (2, str(program))
    lines = chosen.layers(10.0)
    assert lines[0] == "tier 2 of 3: sandbox-exec and limits"
    assert any(line.startswith("no test of this on macOS yet") for line in lines)


@pytest.mark.parametrize(
    ("platform", "body", "reason"),
    [
        ("darwin", "echo 'Abort trap' >&2; exit 6", "torch cannot be used under sandbox-exec (Abo"),
        ("darwin", "exit 71", "(exit status 71, no reason given)"),
        ("darwin", None, "sandbox-exec is not installed"),
        ("freebsd14", None, "this system has no sandbox that drill knows"),
    ],
)
def test_without_a_sandbox_that_works_the_tier_is_1_and_says_why(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, platform: str, body: str | None, reason: str
) -> None:
    monkeypatch.setattr(policy, "PLATFORM", platform)
    monkeypatch.setenv("PATH", str(tmp_path))
    if body is not None:
        stand_in(tmp_path, body)
    assert policy.start() == "spawn"
    wrap, lacking = policy.outer("/nonexistent", (), 3)
    chosen = policy.inner(lacking)
    assert (wrap, chosen.tier, chosen.wrap, chosen.bounds_memory) == ([], 1, (), False)
    assert reason in chosen.lacking
    named = {"darwin": "macOS"}.get(platform, platform)
    lines = chosen.layers(10.0)
    assert any(f"no test of this on {named} yet" in line for line in lines)
    assert any(f"no file or network sandbox ({chosen.lacking})" in line for line in lines)
    assert policy.inner(lacking, 1).lacking == "asked for no sandbox"


def test_doctor_attacks_what_there_is_on_macos(monkeypatch: pytest.MonkeyPatch) -> None:
    sent = []

    class Blocking:
        policy = policy.Policy(2, untested="macOS")

        def prove(self, asked: object, sources: dict[str, bytes], seeds: object) -> dict[str, Any]:
            sent.append(sources["source"].decode())
            return {"status": "exception"}

    monkeypatch.setattr(policy, "PLATFORM", "darwin")
    findings = {f.probe: f for f in examine.examine(Blocking())}  # type: ignore[arg-type]
    assert list(findings) == list(examine.PROBES)
    untestable = {probe for probe, finding in findings.items() if finding.state == "untestable"}
    assert untestable == set(examine.BY_LINUX)
    assert not [source for source in sent if "/proc" in source or "0x4206" in source]
    assert findings[examine.SURVIVOR].claimed
    assert examine.probes()[examine.SURVIVOR][0] == 2  # in tier 1 nobody claims it


def test_on_linux_nothing_is_called_untested(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(policy, "PLATFORM", "linux")
    assert examine.probes() is examine.PROBES
    chosen = policy.inner("", 1)
    assert policy.start() == "fork"
    assert (chosen.untested, chosen.wrap, chosen.bounds_memory) == ("", (), True)
    assert not [line for line in chosen.layers(10.0) if "untested" in line]
