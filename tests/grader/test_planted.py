"""No bug of the shipped code is called mended while its lines are wrong, whatever else was done."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

import pytest
from bank import HONEST, question
from in_process import InProcess

from grader.judging.grade import grade
from grader.report import Report

Changes = tuple[tuple[str, str], ...]

PADDING: dict[str, Changes] = {
    "padding-masks-queries": (("[:, None, :, None]", "[:, None, None, :]"),),
    "mask-fill-zero": (("1e-9", 'float("-inf")'),),
    "empty-rows-mean": (
        ("(weights, v)", "(weights.nan_to_num() * allowed.any(-1, keepdim=True), v)"),
    ),
}
FLASH: dict[str, Changes] = {
    "flash-output-not-rescaled": (("out = out +", "out = out * torch.exp(m - m_new) +"),),
    "online-last-block-zero-padded": (
        ("    k, v = whole_blocks(k, block_size), whole_blocks(v, block_size)\n", ""),
        ("start + block_size, device", "start + scores.shape[-1], device"),
    ),
    "causal-mask-top-left": (
        ("arange(q.shape[-2], device", "arange(k.shape[-2] - q.shape[-2], k.shape[-2], device"),
    ),
}
MENDS = {"debug-padding": PADDING, "debug-flash": FLASH}
ODD: dict[str, tuple[Changes, ...]] = {  # with a mistake made on the way, and without
    "debug-padding": ((), (("slots >= length", "slots > length"),)),
    "debug-flash": ((), (("total = total * torch.exp(m - m_new) +", "total = total +"),)),
}
SAID = {"passed": True, "wrong_answer": False, "skipped": None}


def code(id_: str, *changes: Changes) -> str:
    text = str(question(id_)["starter"])
    for old, new in (pair for change in changes for pair in change):
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    return text


def judged(id_: str, text: str, only: str | None = None) -> Report:
    return grade(
        question(id_), b"", 3, "", {}, lambda: InProcess(text, question(id_)["entry"]), only
    )


def states(report: Report) -> dict[str, bool | None]:
    checks = [check for check in report.checks if check.id.startswith("bug/")]
    return {check.id.removeprefix("bug/"): SAID[check.verdict] for check in checks}


def named(report: Report) -> set[str]:
    return {mistake.id for mistake in report.mistakes}


def mixtures(id_: str) -> Iterator[tuple[tuple[str, ...], Changes]]:
    for count in range(len(MENDS[id_]) + 1):
        for kept in combinations(MENDS[id_], count):
            for odd in ODD[id_]:
                yield kept, odd


@pytest.mark.parametrize("id_", MENDS)
def test_no_state_is_untrue_whatever_is_mended_or_made(id_: str) -> None:
    for kept, odd in mixtures(id_):
        mended = [change for bug, change in MENDS[id_].items() if bug not in kept]
        report = judged(id_, code(id_, *mended, odd))
        found = states(report)
        assert (report.verdict == "passed") == (not kept and not odd), (kept, odd)
        for bug, state in found.items():
            assert state in (None, bug not in kept), (kept, odd, bug)
        gone = any("planted bugs are gone" in fact for fact in report.certain)
        assert gone == (report.verdict == "wrong_answer" and all(found.values())), (kept, odd)


def test_a_bug_that_another_mistake_replaced_is_not_called_mended() -> None:
    both = [PADDING["padding-masks-queries"], PADDING["mask-fill-zero"]]
    report = judged("debug-padding", code("debug-padding", *both))
    assert named(report) == {"empty-rows-nan"}
    assert states(report) == {
        "padding-masks-queries": True, "mask-fill-zero": True, "empty-rows-mean": None,
    }  # fmt: skip
    others = [FLASH["online-last-block-zero-padded"], FLASH["causal-mask-top-left"]]
    report = judged("debug-flash", code("debug-flash", *others, ODD["debug-flash"][1]))
    assert named(report) == {"flash-neither-rescaled"}
    assert states(report)["flash-output-not-rescaled"] is None


def test_a_bug_that_another_mistake_hides_is_not_called_mended() -> None:
    others = [FLASH["flash-output-not-rescaled"], FLASH["causal-mask-top-left"]]
    report = judged("debug-flash", code("debug-flash", *others, (("if causal:", "if True:"),)))
    assert named(report) == {"flash-causal-always"}
    assert states(report) == {
        "flash-output-not-rescaled": True,
        "online-last-block-zero-padded": None,
        "causal-mask-top-left": None,
    }


def test_it_is_said_that_the_bugs_are_gone_where_the_code_is_wrong_in_another_way() -> None:
    report = judged(
        "debug-padding", code("debug-padding", *PADDING.values(), ((" / width**0.5", ""),))
    )
    assert named(report) == {"scale-none"}
    assert set(states(report).values()) == {True}
    assert report.certain == ("the planted bugs are gone: what is wrong now is another mistake",)


def test_one_case_alone_mends_only_what_it_would_have_shown() -> None:
    whole = judged(
        "debug-flash", code("debug-flash", FLASH["flash-output-not-rescaled"]), "whole-blocks"
    )
    assert states(whole) == {"flash-output-not-rescaled": True}  # it is not asked of the others


@pytest.mark.parametrize("id_", ["debug-cached-decoder", "debug-mla"])
def test_positions_in_half_precision_are_rejected(id_: str) -> None:
    right = (HONEST / id_ / "mended_in_place.py").read_text()
    exact = "positions[:, None].double()"
    assert right.count(exact) == 1
    wrong = right.replace(exact, "positions[:, None].to(x.dtype).double()")
    assert judged(id_, wrong).verdict == "wrong_answer"
