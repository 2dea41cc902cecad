from __future__ import annotations

import ast
import shlex
import subprocess
import sys

import pytest
from conftest import ROOT, Drill

from drills.solutions import reference_source
from drills.store import Store

RIGHT = """
import torch
def causal_mask(t, s):
    return torch.ones(t, s, dtype=torch.bool).tril(s - t)
"""
WRONG = RIGHT.replace("tril(s - t)", "tril(0)")


def test_grade_goes_from_a_wrong_file_to_a_named_mistake_to_a_pass(drill: Drill):
    assert drill("start", "causal-mask").code == 0
    file = drill.work / "causal_mask.py"
    file.write_text(WRONG)
    ran = drill("grade")  # the problem begun last, the file written for it
    assert ran.code == 1, ran.err
    assert "wrong answer" in ran.out
    assert "--reproduce" in ran.out
    assert "drill hint causal-mask" in ran.out.rstrip().splitlines()[-1]
    assert max(map(len, ran.out.splitlines())) <= 80
    ran = drill("grade", "causal-mask", "--json")
    assert ran.json["mistakes"]
    seed = ran.json["seed"]
    same = drill("grade", "--seed", str(seed), "--json").json
    assert [c["verdict"] for c in same["checks"]] == [c["verdict"] for c in ran.json["checks"]]
    file.write_text(RIGHT)
    ran = drill("grade")
    assert ran.code == 0
    assert "drill next" in ran.out.rstrip().splitlines()[-1]
    store = Store(drill.home, print)
    verdicts = [a.verdict for a in store.attempts("causal-mask")]
    assert verdicts == ["wrong_answer"] * 3 + ["passed"]
    assert [r.rating for r in store.reviews()] == [2]  # three failures


def test_the_file_alone_or_in_either_order_is_enough(drill: Drill, tmp_path):
    file = tmp_path / "causal_mask.py"
    file.write_text(RIGHT)
    assert drill("grade", str(file)).code == 0
    assert drill("grade", str(file), "causal-mask").code == 0
    assert drill("grade", "causal-mask", "-", stdin=RIGHT).code == 0


def test_a_case_alone_is_graded_but_not_recorded_and_can_be_reproduced(drill: Drill):
    file = drill.work / "w.py"
    file.write_text(WRONG)
    report = drill("grade", "causal-mask", "w.py", "--json").json
    case = report["where"]["case"] if report["where"] else None
    assert case is not None
    ran = drill("grade", "causal-mask", "w.py", "--case", case, "--seed", "3", "--json")
    assert ran.code == 1
    assert len(Store(drill.home, print).attempts()) == 1
    ran = drill("grade", "causal-mask", "--case", case, "--seed", "3", "--reproduce")
    assert ran.code == 0
    ast.parse(ran.out)
    ran = drill("grade", "causal-mask", "w.py", "--case", "no-such-case")
    assert ran.code == 2
    assert case in ran.err


def test_the_reproduction_runs_the_file_that_was_graded(drill: Drill):
    assert drill("start", "stable-softmax").code == 0  # whose function is called softmax
    wrong = "def softmax(x, dim=-1):\n    return x.exp() / x.exp().sum(dim, keepdim=True)\n"
    for name in ("stable_softmax.py", "my own.py"):
        (drill.work / name).write_text(wrong)
        given = [] if name == "stable_softmax.py" else [name]
        ran = drill("grade", "stable-softmax", *given)
        (line,) = [line for line in ran.out.splitlines() if "--reproduce" in line]
        command = shlex.split(line.partition("drill")[2])
        assert command[:-5] == ["grade", "stable-softmax", *given]
        ran = drill(*command)
        assert ran.code == 0, ran.err
        (drill.work / "r.py").write_text(ran.out)
        done = subprocess.run(
            [sys.executable, "r.py"], cwd=drill.work, capture_output=True, text=True, check=True
        )
        assert "largest error" in done.stdout


def test_the_bugs_of_a_debug_question_are_not_the_learners_mistakes(drill: Drill):
    assert drill("start", "debug-block").code == 0
    file = drill.work / "debug_block.py"
    text = file.read_text()
    assert "rotate(split_heads(x @ w_v.T" in text
    file.write_text(text + "\nMENDED = None\n")
    assert drill("grade", "debug-block", "--json").json["mistakes"]
    assert drill("stats", "--json").json["mistakes"] == []


def test_what_the_machine_lacks_is_not_run(drill: Drill):
    (drill.work / "r.py").write_text(RIGHT)
    ran = drill("grade", "causal-mask", "r.py", "--device", "cuda", "--json")
    assert (ran.code, ran.json["verdict"]) == (1, "not_run")
    assert Store(drill.home, print).attempts() == []


@pytest.mark.parametrize(
    ("source", "verdict"),
    [
        ("def causal_mask(t, s:\n", "invalid"),
        ("x = 1\n", "invalid"),
        ("def causal_mask(t, s):\n    return t / 0\n", "runtime_error"),
        ("import os\nos._exit(7)\n", "crashed"),
    ],
)
def test_broken_files_get_their_own_verdict_and_exit_1(drill: Drill, source: str, verdict: str):
    (drill.work / "b.py").write_text(source)
    ran = drill("grade", "causal-mask", "b.py", "--json")
    assert (ran.code, ran.json["verdict"]) == (1, verdict)


def test_what_a_submission_prints_cannot_move_the_cursor(drill: Drill):
    source = "print('\\x1b[2J\\x1b]0;t\\x07[bold]b[/bold]')\n" + WRONG
    (drill.work / "e.py").write_text(source)
    ran = drill("grade", "causal-mask", "e.py")
    assert "\x1b" not in ran.out + ran.err
    assert "\x07" not in ran.out
    assert "[bold]b[/bold]" in ran.out


def test_a_graded_file_makes_room_for_a_fresh_start_when_the_problem_is_due(drill: Drill):
    from test_cli_serving import _days_later

    assert drill("start", "causal-mask").code == 0
    file = drill.work / "causal_mask.py"
    starter = file.read_text()
    file.write_text(RIGHT)
    assert drill("grade").code == 0
    later = _days_later(drill, 40)
    ran = later("next", "--kind", "code")
    assert ran.code == 0
    assert "causal_mask.py" in ran.out
    assert file.read_text() == starter
    assert (drill.work / "causal_mask.py.bak-1").read_text() == RIGHT


def test_the_solution_that_is_shown_passes(drill: Drill):
    source = reference_source("reference.masks.causal_mask")
    (drill.work / "s.py").write_text("from __future__ import annotations\n" + source)
    assert drill("grade", "causal-mask", "s.py").code == 0
    shown = drill("solution", "causal-mask").out
    assert all(line in shown for line in source.splitlines())


def test_bank_check_proves_one_question(drill: Drill):
    path = ROOT / "questions" / "attention" / "causal-mask.yaml"
    ran = drill("bank", "check", str(path), "--seeds", "1")
    assert ran.code == 0, ran.out + ran.err
    assert "proved" in ran.out
