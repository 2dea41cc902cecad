"""The mistake is named when the evidence singles it out, and never another."""

from __future__ import annotations

import random
from functools import partial
from itertools import combinations
from typing import Any

import pytest
from bank import CODE, DEBUG, question
from in_process import factory

from grader.judging.answers import record, request
from grader.judging.family import Family
from grader.judging.functions import resolve, switches
from grader.judging.grade import grade
from grader.judging.naming import Evidence
from grader.judging.oracle import Oracle
from grader.judging.simulated import Simulated
from grader.judging.trial import Conductor
from grader.report import Report

PAIRS = 8
SAME = {  # pairs of masks that are another known mask, entry by entry
    frozenset({"causal-mask-hides-self", "causal-mask-inverted"}): "causal-mask-reversed",
    frozenset({"causal-mask-one-ahead", "causal-mask-reversed"}): "causal-mask-inverted",
    frozenset({"causal-mask-reversed", "causal-mask-inverted"}): "causal-mask-hides-self",
}


def graded(asked: dict[str, Any], names: tuple[str, ...], seed: int = 3) -> Report:
    table = switches(asked["family"])
    merged = {k: v for name in names for k, v in table[name].items()}
    function = partial(resolve(asked["family"]), **merged)
    return grade(asked, b"", seed, "", {}, lambda: Simulated(function, asked["framework"]))


def named(report: Report) -> set[str]:
    return {mistake.id for mistake in report.mistakes}


@pytest.mark.parametrize("id_", CODE)
def test_two_mistakes_at_once_are_never_taken_for_a_third(id_: str) -> None:
    asked = question(id_)
    table = switches(asked["family"])
    pairs = [
        pair
        for pair in combinations(asked["mistakes"], 2)
        if not table[pair[0]].keys() & table[pair[1]].keys()
    ]
    random.Random(id_).shuffle(pairs)
    exact = 0
    for pair in pairs[:PAIRS]:
        found = named(graded(asked, pair))
        assert found <= set(pair) or found == {SAME.get(frozenset(pair))}, pair
        exact += found == set(pair)
    assert exact >= min(len(pairs), PAIRS) // 3


MHA = """
import torch

def causal_mha(x, w_q, w_k, w_v, w_o, n_heads):
    B, T, d = x.shape
    D = d // n_heads
    outs = []
    for h in range(n_heads):
        rows = slice(h * D, (h + 1) * D)
        q, k, v = x @ w_q[rows].T, x @ w_k[rows].T, x @ w_v[rows].T
        s = torch.einsum("btd,bsd->bts", q, k) * SCALE
        hidden = torch.triu(torch.ones(T, T), DIAGONAL) > 0
        s = s.masked_fill(hidden, -1e30)
        e = torch.exp(s - s.amax(AXIS, keepdim=True))
        outs.append((e / e.sum(AXIS, keepdim=True)) @ v)
    return torch.cat(outs, -1) @ OUT
"""


def mha(scale: str = "D ** -0.5", diagonal: int = 1, axis: int = 2, out: str = "w_o.T") -> str:
    text = MHA.replace("SCALE", scale).replace("DIAGONAL", str(diagonal))
    return text.replace("AXIS", str(axis)).replace("OUT", out)


def judged(id_: str, source: str, seed: int = 5) -> Report:
    asked = question(id_)
    return grade(asked, source.encode(), seed, "a.py", {}, factory(asked, source))


@pytest.mark.parametrize(
    ("source", "names"),
    [
        (mha(scale="1.0"), {"scale-none"}),
        (mha(scale="1 / D"), {"scale-without-root"}),
        (mha(scale="d ** -0.5"), {"scale-by-model-width"}),
        (mha(diagonal=2), {"causal-one-ahead"}),
        (mha(out="w_o"), {"output-weight-not-transposed"}),
        (mha(scale="1.0", out="w_o"), {"scale-none", "output-weight-not-transposed"}),
        (mha(scale="d ** -0.5", diagonal=2), {"scale-by-model-width", "causal-one-ahead"}),
    ],
)
def test_code_in_another_style_with_a_known_mistake_is_named(source: str, names: set[str]) -> None:
    for seed in (5, 6):
        assert named(judged("causal-mha", source, seed)) == names


@pytest.mark.parametrize(
    "source",
    [
        mha(scale="D ** -0.55"),
        mha(scale="D ** -0.5 * (1.01 if T > 6 else 1)"),
        mha(out="w_o.T * 1.001"),
        mha(scale="1.0", out="w_o.T * 1.5"),
        mha().replace("torch.cat(outs, -1)", "torch.cat(outs[::-1], -1)"),
    ],
)
def test_an_unknown_mistake_gets_no_name(source: str) -> None:
    assert judged("causal-mha", mha()).verdict == "passed"
    report = judged("causal-mha", source)
    assert report.verdict == "wrong_answer"
    assert named(report) == set()
    assert report.certain


def test_a_mistake_that_only_bfloat16_shows_is_named() -> None:
    source = """
import torch
def apply_rope(x, positions, base=10000.0):
    half = x.shape[-1] // 2
    i = torch.arange(half, dtype=torch.float32)
    freq = (base ** (-i / half)).to(x.dtype)
    angle = positions.to(x.dtype)[:, None] * freq
    a, b = x[..., :half], x[..., half:]
    c, s = angle.cos(), angle.sin()
    return torch.cat([a * c - b * s, a * s + b * c], -1)
"""
    report = judged("rope", source)
    failed = {c.id for c in report.checks if c.verdict == "wrong_answer"}
    assert failed
    assert all(check.endswith("bfloat16") for check in failed)
    assert named(report) <= {"rope-angles-input-dtype", "rope-positions-input-dtype"}


@pytest.mark.parametrize("id_", DEBUG)
def test_mended_and_unmended_bugs_are_told_apart(id_: str) -> None:
    asked = question(id_)
    bugs = [bug["mistake"] for bug in asked["bugs"]]
    for n in range(1, len(bugs) + 1):
        for left in combinations(bugs, n):
            report = graded(asked, left)
            assert named(report) == set(left)
            states = {c.id: c.verdict for c in report.checks if c.id.startswith("bug/")}
            assert states == {
                f"bug/{bug}": "wrong_answer" if bug in left else "passed" for bug in bugs
            }


@pytest.mark.parametrize("id_", DEBUG)
def test_a_new_mistake_in_place_of_a_bug_is_named_and_the_bugs_count_as_mended(id_: str) -> None:
    asked = question(id_)
    bugs = {bug["mistake"] for bug in asked["bugs"]}
    report = graded(asked, ("softmax-over-queries",))
    assert named(report) == {"softmax-over-queries"}
    assert {c.verdict for c in report.checks if c.id.removeprefix("bug/") in bugs} == {"passed"}


def test_what_differs_by_rounding_alone_is_told_from_what_another_draw_may_part() -> None:
    asked = question("debug-cached-decoder")
    family = Family(asked, Oracle(asked))
    case = family.oracle.draw(asked["cases"][0], "float32", 3)
    unread = frozenset({"cache-never-read"})
    for bug, same in (
        ("cache-keys-kept-unrotated", True),  # to the last bit: what is kept is never read
        ("cache-positions-restart", True),  # but for rounding: only distances count
        ("rope-on-values", False),
        ("rope-angles-rounded-bfloat16", False),
    ):
        assert family.alike(unread, unread | {bug}, case) == same, bug
    padded = question("debug-padding")  # which draws lengths: others may part the two
    family = Family(padded, Oracle(padded))
    drawn = family.oracle.draw(padded["cases"][0], "float32", 3)
    assert not family.alike(frozenset(), frozenset(), drawn)


def test_no_more_is_drawn_where_it_can_tell_nothing_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Conductor, "more", lambda *_: pytest.fail("drawn again"))
    report = graded(question("debug-cached-decoder"), ("cache-never-read",))
    assert named(report) == {"cache-never-read"}
    states = {c.id: c.verdict for c in report.checks if c.id.startswith("bug/")}
    hidden = {bug for bug, verdict in states.items() if verdict == "skipped"}
    assert hidden == {
        "bug/cache-positions-restart", "bug/cache-keys-kept-unrotated", "bug/cache-slot-by-call",
    }  # fmt: skip


def test_the_case_that_rules_out_most_is_looked_at_first_and_the_same_remain() -> None:
    asked = question("attention-block")
    family = Family(asked, Oracle(asked))
    made = family.mistaken({"scale-by-model-width", "rope-exponent-sign"})
    answers = []
    for declared in asked["cases"]:
        case = family.oracle.draw(declared, "float32", 3)
        outcome = Simulated(made).call(request(case))
        answers.append(record(case, outcome, family.oracle))
    evidence = Evidence(family, answers)
    assert evidence.quick[0].values_right  # it is small; but as small as to hide most mistakes
    singles = [frozenset([name]) for name in family.listed]
    near = evidence.screened(singles)
    assert evidence.quick[0] is evidence.screen
    assert evidence.screened(singles) == near
