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


def unshifted(o_a: Q, lse_a: Q, o_b: Q, lse_b: Q) -> tuple[Q, Q]:
    a, b = lse_a.double().exp(), lse_b.double().exp()  # (B, H, T), inf from 710 on
    total = a + b
    out = (a / total)[..., None] * o_a.double() + (b / total)[..., None] * o_b.double()
    return out.to(o_a.dtype), total.log().to(lse_a.dtype)


def test_an_overflow_of_float64_is_the_same_mistake() -> None:
    asked = question("merge-attention")
    report = grade(asked, b"", 3, "", {}, lambda: Simulated(unshifted, "torch"))
    assert [m.id for m in report.mistakes] == ["merge-overflow"]
