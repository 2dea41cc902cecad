"""Right code passes whatever its style; everything else gets its own verdict and true words."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from bank import CODE, DEBUG, question
from in_process import InProcess, factory

from grader.isolation.calls import Call, Outcome
from grader.judging.grade import grade
from grader.judging.verdicts import of_run
from grader.report import Report

ATTENTION = """
import torch
def attention(q, k, v, mask=None):
    s = q @ k.transpose(-1, -2) / q.shape[-1] ** 0.5
    if mask is not None:
        s = s.masked_fill(~mask, -float("inf"))
    p = torch.softmax(s, -1).nan_to_num(0.0)
    return p @ v
"""


def judged(source: str, id_: str = "attention", seed: int = 1, only: str | None = None) -> Report:
    asked = question(id_)
    return grade(asked, source.encode(), seed, "a.py", {}, factory(asked, source), only)


def verdicts(report: Report) -> dict[str, str]:
    return {check.id: check.verdict for check in report.checks}


def messages(report: Report) -> str:
    return " ".join(check.message for check in report.checks)


STYLES = {
    "an epsilon in the normaliser": """
        e = torch.exp(s - s.amax(-1, keepdim=True).clamp(min=-1e30))
        p = e / (e.sum(-1, keepdim=True) + 1e-6)
    """,
    "log-space": """
        p = torch.exp(s - torch.logsumexp(s, -1, keepdim=True)).nan_to_num(0.0)
    """,
    "base 2": """
        s = s * 1.4426950408889634
        e = torch.exp2(s - s.amax(-1, keepdim=True).clamp(min=-1e30))
        p = e / e.sum(-1, keepdim=True).clamp(min=1e-20)
    """,
    "float64 inside": """
        s = s.double()
        p = torch.softmax(s, -1).nan_to_num(0.0).to(v.dtype)
    """,
    "float32 inside": """
        p = torch.softmax(s.float(), -1).nan_to_num(0.0).to(v.dtype)
    """,
}


@pytest.mark.parametrize("style", STYLES)
def test_equivalent_softmaxes_pass(style: str) -> None:
    source = f"""
import torch
def attention(q, k, v, mask=None):
        s = torch.einsum("bhtd,bhsd->bhts", q, k) * q.shape[-1] ** -0.5
        if mask is not None:
            s = s + torch.where(mask, 0.0, -float("inf")).to(s.dtype)
{STYLES[style]}
        return torch.einsum("bhts,bhsd->bhtd", p, v)
"""
    for seed in (3, 4, 5):
        report = judged(source, seed=seed)
        assert report.verdict == "passed", messages(report)


def test_masking_after_the_softmax_and_renormalising_is_no_fault_where_it_is_finite() -> None:
    source = ATTENTION.replace(
        "p = torch.softmax(s, -1).nan_to_num(0.0)",
        "p = torch.softmax(q @ k.mT / q.shape[-1] ** 0.5, -1)\n"
        "    p = p if mask is None else p * mask\n"
        "    p = p / p.sum(-1, keepdim=True)",
    )
    for case in ("full-mask", "shared-mask"):
        assert judged(source, only=case).verdict == "passed"


@pytest.mark.parametrize("id_", CODE + DEBUG)
@pytest.mark.parametrize("answer", ["zeros", "first"])
def test_answers_without_understanding_fail(id_: str, answer: str) -> None:
    asked = question(id_)
    entry = asked["entry"]
    body = {
        "zeros": "return tuple(g * 0 for g in good) if isinstance(good, tuple) else good & 0",
        "first": "return a[0]",
    }[answer]
    if asked["outputs"] and len(asked["outputs"]) == 1 and id_ != "causal-mask":
        body = body.replace("good & 0", "good * 0")
    source = (
        f"from {asked['reference'].rpartition('.')[0]} import {entry} as right\n"
        f"def {entry}(*a, **k):\n    good = right(*a, **k)\n    {body}\n"
    )
    assert judged(source, id_).verdict == "wrong_answer"


def test_shape_comes_before_values() -> None:
    report = judged(ATTENTION.replace("return p @ v", "return (p @ v).flatten(1, 2)"))
    found = verdicts(report)
    assert found["shape"] == "wrong_answer"
    assert {v for k, v in found.items() if k.startswith("values/")} == {"skipped"}
    assert "has shape" in messages(report)


def test_something_that_is_no_tensor_is_said_to_be_so() -> None:
    report = judged(ATTENTION.replace("return p @ v", "return 'weights'"))
    assert verdicts(report)["shape"] == "wrong_answer"
    assert "returned a str" in messages(report)


def test_a_wrong_dtype_is_its_own_check() -> None:
    report = judged(ATTENTION.replace("return p @ v", "return (p @ v).float()"))
    found = verdicts(report)
    assert found["dtype"] == "wrong_answer"
    assert found["shape"] == "passed"
    assert {v for k, v in found.items() if k.startswith("values/")} == {"passed"}


def test_half_precision_inside_is_not_precise_enough() -> None:
    report = judged(
        ATTENTION.replace("torch.softmax(s, -1)", "torch.softmax(s.bfloat16(), -1).to(v)")
    )
    assert report.verdict == "wrong_answer"


def test_a_changed_input_is_the_first_thing_said() -> None:
    report = judged(ATTENTION.replace("p = torch", "q.mul_(2)\n    p = torch"))
    assert verdicts(report)["inputs-untouched"] == "wrong_answer"
    assert "changes `q`" in report.summary
    gradients = {v for k, v in verdicts(report).items() if k.startswith("gradients/")}
    assert gradients == {"skipped"}


STATEFUL = {
    "cached by shape": (
        "kept = {}",
        "return kept.setdefault((q.shape, v.shape, q.dtype), p @ v)",
    ),
    "other after twenty calls": (
        "calls = []",
        "calls.append(1)\n    return p @ v + (len(calls) > 20)",
    ),
    "dropout": ("", "return torch.dropout(p, 0.01, True) @ v"),
    "other in the first call": (
        "calls = []",
        "calls.append(1)\n    return p @ v + (len(calls) == 1)",
    ),
}


@pytest.mark.parametrize("kind", STATEFUL)
def test_a_result_depends_on_its_arguments_alone(kind: str) -> None:
    before, instead = STATEFUL[kind]
    report = judged(before + ATTENTION.replace("return p @ v", instead))
    assert report.verdict == "wrong_answer"
    assert verdicts(report)["repeatable"] == "wrong_answer"
    assert not report.mistakes


def test_a_cache_by_shape_is_told_from_a_wrong_value() -> None:
    source = "kept = {}\n" + ATTENTION.replace(
        "return p @ v",
        "return kept.setdefault((q.shape, v.shape, q.dtype, v.requires_grad), p @ v)",
    )
    report = judged(source, only="full-mask")
    assert verdicts(report)["values/full-mask"] == "passed"
    assert verdicts(report)["repeatable"] == "wrong_answer"
    assert "kept from one call to the next" in report.summary


def test_a_cut_graph_is_certain() -> None:
    report = judged(ATTENTION.replace("p = torch", "s = s.detach()\n    p = torch"))
    found = verdicts(report)
    assert {v for k, v in found.items() if k.startswith("values/")} == {"passed"}
    assert "wrong_answer" in {v for k, v in found.items() if k.startswith("gradients/")}
    assert "No gradient reaches q, k" in report.summary


def test_nothing_is_called_repeatable_where_every_call_raises() -> None:
    report = judged("def attention(q, k, v, mask=None):\n    raise NotImplementedError\n")
    assert report.verdict == "runtime_error"
    assert verdicts(report)["repeatable"] == "skipped"


def test_one_exception_does_not_stop_the_other_cases() -> None:
    report = judged(ATTENTION.replace("p = torch", "assert q.shape[2] > 1, 'short'\n    p = torch"))
    found = verdicts(report)
    assert report.verdict == "runtime_error"
    assert found["values/one-query"] == "runtime_error"
    assert found["values/full-mask"] == "passed"
    assert "q (" in messages(report)


@pytest.mark.parametrize(
    ("source", "says"),
    [("def attention(q:\n", "cannot read"), ("x = 1\n", "defines no `attention`")],
)
def test_a_file_that_does_not_load_is_invalid_and_scores_nothing(source: str, says: str) -> None:
    report = judged(source)
    assert (report.verdict, report.score) == ("invalid", 0.0)
    assert says in report.summary
    assert set(verdicts(report).values()) == {"invalid", "skipped"}


def test_float32_failing_spares_the_other_dtypes() -> None:
    report = judged(ATTENTION.replace("/ q.shape[-1] ** 0.5", ""))
    found = verdicts(report)
    assert found["values/no-mask"] == "wrong_answer"
    assert found["values/no-mask/bfloat16"] == "skipped"
    assert found["gradients/no-mask"] == "skipped"
    assert 0 < report.score < 1
    assert report.where is not None
    assert report.where.wrong_entries <= report.where.entries


def test_the_probes_say_what_was_measured() -> None:
    source = ATTENTION.replace("return p @ v", "return 1.5 * (p @ v)")
    report = judged(source)
    assert not report.mistakes
    said = " ".join(report.certain)
    assert "1.5 times" in said
    assert "as it would from weights that sum to one" in said
    assert "future leaks" not in said


def test_a_leak_is_seen() -> None:
    source = """
import torch
def causal_mha(x, w_q, w_k, w_v, w_o, n_heads):
    B, T, d = x.shape
    q, k, v = [(x @ w.T).unflatten(-1, (n_heads, -1)).transpose(1, 2) for w in (w_q, w_k, w_v)]
    s = q @ k.mT / (d // n_heads) ** 0.5
    s = s.masked_fill(torch.ones(T, T).triu(1) > 0, -float("inf"))
    out = (torch.softmax(s, -1) @ v).transpose(1, 2).flatten(2) @ w_o.T
    return out + 0.01 * x.roll(-1, 1)
"""
    report = judged(source, "causal-mha")
    assert any("the future leaks" in fact for fact in report.certain)


class Broken(InProcess):
    """Answers the given outcome from the third call on."""

    outcome = Outcome("timeout")
    calls = 0

    def call(self, call: Call) -> Outcome:
        type(self).calls += 1
        return self.outcome if type(self).calls > 2 else super().call(call)


@pytest.mark.parametrize(
    ("outcome", "verdict", "says"),
    [
        (Outcome("timeout"), "time_limit", "still running"),
        (Outcome("died", detail={"signal": 11}), "crashed", "signal 11"),
        (Outcome("died", detail={"exit": 3}), "crashed", "exit code 3"),
        (Outcome("resource", detail={"limit": "processes"}), "resource_limit", "threads"),
        (Outcome("resource", detail={"limit": "disk"}), "resource_limit", "to files"),
        (Outcome("memory", detail={"limit": 4 << 30}), "memory_limit", "4 GiB"),
        (Outcome("output", detail={"limit": 64 << 20}), "output_limit", "64 MiB"),
        (Outcome("forbidden", detail={"op": "torch.softmax"}), "forbidden", "torch.softmax"),
        (Outcome("denied", detail={"tried": "network"}), "denied", "open a network connection"),
        (Outcome("protocol", error="odd bytes"), "wrong_answer", "odd bytes"),
    ],
)
def test_what_ends_a_run_is_reported_where_it_happened(
    outcome: Outcome, verdict: str, says: str
) -> None:
    asked: dict[str, Any] = question("attention")
    kind = type("Once", (Broken,), {"outcome": outcome, "calls": 0})
    report = grade(asked, b"", 1, "a.py", {}, lambda: kind(ATTENTION, "attention"))
    assert report.verdict == verdict
    found = verdicts(report)
    ended = [id_ for id_, v in found.items() if v == verdict]
    assert len(ended) == 1
    assert says in next(c.message for c in report.checks if c.id == ended[0])
    order = [id_ for id_ in found if id_.startswith("values/")]
    after = order[order.index(ended[0]) + 1 :]
    assert {found[id_] for id_ in after} == {"skipped"}
    assert found["repeatable"] == "skipped"


def test_the_gravest_check_decides() -> None:
    assert of_run(["passed", "skipped"]) == "passed"
    assert of_run(["wrong_answer", "runtime_error", "passed"]) == "runtime_error"
    assert of_run(["runtime_error", "time_limit", "skipped"]) == "time_limit"
    assert of_run(["time_limit", "forbidden"]) == "forbidden"


def test_one_case_alone_can_be_graded() -> None:
    report = judged(ATTENTION, only="full-mask")
    assert report.verdict == "passed"
    assert {k for k in verdicts(report) if k.startswith("values/")} == {
        "values/full-mask", "values/full-mask/bfloat16"}  # fmt: skip


def test_the_seed_repeats_a_grade_and_a_missing_one_is_drawn() -> None:
    wrong = ATTENTION.replace("/ q.shape[-1] ** 0.5", "")
    one, two = judged(wrong), judged(wrong)
    assert replace(one, costs=two.costs, seconds=two.seconds) == two
    asked = question("attention")
    drawn = grade(asked, b"", None, "a.py", {}, factory(asked, ATTENTION))
    assert drawn.seed >= 0
    assert drawn.verdict == "passed"


def test_a_report_survives_its_json() -> None:
    report = judged(ATTENTION.replace("/ q.shape[-1] ** 0.5", ""))
    assert Report.from_json(report.to_json()) == report


def test_a_pass_needs_no_templates() -> None:
    here = Path(__file__).parent
    program = (
        "import sys; sys.path.insert(0, sys.argv[1])\n"
        "from test_judging_grade import judged, ATTENTION\n"
        "assert 'jinja2' not in sys.modules\n"
        "assert judged(ATTENTION, only='full-mask').verdict == 'passed'\n"
        "assert 'jinja2' not in sys.modules\n"
        "assert judged('x = 1', only='full-mask').verdict == 'invalid'\n"
        "assert 'jinja2' in sys.modules\n"
    )
    command = [sys.executable, "-c", program, str(here)]
    subprocess.run(command, check=True, cwd=here.parent.parent)
