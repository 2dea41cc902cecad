"""What is said where no single known mistake fits: two others, or what is certain, and no more."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from bank import question
from torch import Tensor

from grader.judging.family import Family
from grader.judging.functions import resolve
from grader.judging.grade import grade
from grader.judging.oracle import Oracle
from grader.judging.simulated import Simulated
from grader.report import Report


def judged(id_: str, function: Callable[..., Any]) -> Report:
    return grade(question(id_), b"", 5, "", {}, partial(Simulated, function))


def changed(id_: str, change: Callable[..., Tensor]) -> Report:
    """The reference's result, changed by `change(result, *arguments)`."""
    reference = resolve(question(id_)["reference"])
    return judged(id_, lambda *args, **kwargs: change(reference(*args, **kwargs), *args))


@pytest.mark.parametrize(("factor", "said"), [(1.5, True), (0.25, True), (1.0005, False)])
def test_a_factor_is_told_only_where_it_is_one(factor: float, said: bool) -> None:
    report = changed("causal-mha", lambda out, *_: factor * out)
    assert report.verdict == "wrong_answer"
    told = f"every wrong output is {factor:.4g} times what it should be"
    assert (told in report.certain) == said
    assert any("times what" in fact for fact in report.certain) == said


def test_a_law_that_one_case_breaks_is_not_said_to_hold() -> None:
    def leaks(out: Tensor, x: Tensor, *_: Any) -> Tensor:
        future = x.flip(1).cumsum(1).flip(1) if x.shape[1] > 5 else 0 * x
        return 1.3 * out + 0.1 * future

    report = changed("causal-mha", leaks)
    assert any("the future leaks" in fact for fact in report.certain)
    assert not any("does not leak" in fact for fact in report.certain)
    tight = changed("causal-mha", lambda out, x, *_: 1.3 * out + 0.1 * x)
    assert any("the future does not leak" in fact for fact in tight.certain)


def test_two_mistakes_that_were_not_planted_are_named_in_a_debug_drill() -> None:
    asked = question("debug-block")
    family = Family(asked, Oracle(asked))
    pair = ["causal-one-ahead", "softmax-twice"]
    report = judged("debug-block", family.mistaken(pair))
    assert sorted(mistake.id for mistake in report.mistakes) == pair
    bugs = [check for check in report.checks if check.id.startswith("bug/")]
    assert [check.verdict for check in bugs] == ["passed"] * 3


@pytest.mark.parametrize(("off", "said"), [(1e-3, True), (1e-2, False)])
def test_small_errors_in_float32_are_told_only_where_all_are(off: float, said: bool) -> None:
    def rounded(out: Tensor, *_: Any) -> Tensor:
        return out + off * out.abs().max() * (out > 0) if out.numel() else out

    report = changed("causal-mha", rounded)
    assert report.verdict == "wrong_answer"
    assert any("products rounded to TF32" in fact for fact in report.certain) == said


def test_a_wrong_mask_that_is_none_of_the_known_ones_is_judged_all_the_same() -> None:
    report = changed("causal-mask", lambda out, *_: out ^ (out.cumsum(-1) % 3 == 2))
    assert report.verdict == "wrong_answer"
    assert report.mistakes == ()
