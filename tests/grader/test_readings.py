"""A mistake is known by its other numbers, and in code that computes in float64."""

from __future__ import annotations

import pytest
import torch
from bank import question

from grader.judging.grade import grade
from grader.judging.naming import Family
from grader.judging.oracle import Oracle
from grader.judging.simulated import Simulated

Q = torch.Tensor


@pytest.mark.parametrize(
    ("id_", "mistake"),
    [
        ("attention", "mask-fill-weak"),
        ("online-softmax", "online-sentinel"),
        ("flash-attention", "online-sentinel"),
    ],
)
def test_every_other_number_is_the_same_mistake(id_: str, mistake: str) -> None:
    asked = question(id_)
    family = Family(asked, Oracle(asked))
    others = [name for name, of in family.same.items() if of == mistake]
    assert len(others) >= 4
    for other in others[2:]:  # a start of -100 is told from one of 0 by some draws alone
        wrong = family.mistaken([other])
        report = grade(asked, b"", 3, "", {}, lambda: Simulated(wrong, "torch"))  # noqa: B023
        assert [m.id for m in report.mistakes] == [mistake], family.table[other]


def test_zeroing_the_rows_of_empty_sequences_by_their_length_hides_no_mistake() -> None:
    asked = question("padding-mask")
    family = Family(asked, Oracle(asked))
    others = [name for name in family.same if "empty_sequences" in family.table[name]]
    assert len(others) > 20
    for other in others:
        wrong = family.mistaken([other])
        report = grade(asked, b"", 3, "", {}, lambda: Simulated(wrong, "torch"))  # noqa: B023
        assert [m.id for m in report.mistakes] == [family.same[other]], family.table[other]


@pytest.mark.parametrize(
    ("id_", "mistake"),
    [
        ("flash-attention", "online-last-block-dropped"),
        ("attention-backward", "backward-dq-overwritten"),
        ("attention-backward", "backward-dk-overwritten"),
        ("attention-backward", "backward-dv-overwritten"),
        ("linear-attention", "linear-chunks-forgotten"),
        ("linear-attention", "linear-chunk-state-forgotten"),
        ("linear-attention", "linear-chunk-keys-forgotten"),
    ],
)
def test_the_mistake_is_the_same_in_blocks_of_another_length(id_: str, mistake: str) -> None:
    asked = question(id_)
    family = Family(asked, Oracle(asked))
    others = [name for name, of in family.same.items() if of == mistake]
    named = 0
    for other in others:
        wrong = family.mistaken([other])
        report = grade(asked, b"", 3, "", {}, lambda: Simulated(wrong, "torch"))  # noqa: B023
        names = [m.id for m in report.mistakes]
        assert names in ([], [mistake]), family.table[other]
        named += bool(names)
    assert named >= len(others) - 1  # the last of two chunks forgets nothing


def unshifted(o_a: Q, lse_a: Q, o_b: Q, lse_b: Q) -> tuple[Q, Q]:
    a, b = lse_a.double().exp(), lse_b.double().exp()  # (B, H, T), inf from 710 on
    total = a + b
    out = (a / total)[..., None] * o_a.double() + (b / total)[..., None] * o_b.double()
    return out.to(o_a.dtype), total.log().to(lse_a.dtype)


def test_an_overflow_of_float64_is_the_same_mistake() -> None:
    asked = question("merge-attention")
    report = grade(asked, b"", 3, "", {}, lambda: Simulated(unshifted, "torch"))
    assert [m.id for m in report.mistakes] == ["merge-overflow"]
