"""A mistake is known by its other numbers, and in code that computes in float64."""

from __future__ import annotations

import pytest
import torch
from bank import question

from grader.judging.family import Family
from grader.judging.grade import grade
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


ZEROED = ("causal-mha", "mqa", "mla", "sliding-window", "cross-attention", "paged-decode")


@pytest.mark.parametrize("id_", ZEROED)
def test_a_mistake_that_leaves_rows_unseen_is_the_same_where_their_nan_is_made_zero(
    id_: str,
) -> None:
    asked = question(id_)
    family = Family(asked, Oracle(asked))
    patched = {
        name: of
        for name, of in family.same.items()
        if family.table[of].get("empty") == "nan" and "empty" not in family.table[name]
    }
    assert patched
    for name, of in patched.items():
        wrong = family.mistaken([name])
        report = grade(asked, b"", 3, "", {}, lambda: Simulated(wrong, "torch"))  # noqa: B023
        assert [m.id for m in report.mistakes] == [of], family.table[name]


def test_heads_that_compete_for_what_each_query_sees_are_no_mask_laid_on_too_late() -> None:
    """A softmax over the heads, row by row over the visible keys alone: there is no mask in it."""

    def window(q: Q, k: Q, v: Q, window: int) -> Q:
        rows = []
        for i in range(q.shape[2]):
            seen = slice(max(0, i - window + 1), i + 1)
            scores = (q[:, :, i : i + 1] @ k[:, :, seen].mT) / q.shape[-1] ** 0.5  # (B, H, 1, W)
            rows.append(scores.softmax(1) @ v[:, :, seen])
        return torch.cat(rows, 2)

    asked = question("sliding-window")
    report = grade(asked, b"", 3, "", {}, lambda: Simulated(window, "torch"))
    assert [m.id for m in report.mistakes] == ["softmax-over-heads"]


def test_a_new_token_may_be_unseen_in_the_prompt_too() -> None:
    asked = question("cached-generate")
    family = Family(asked, Oracle(asked))
    (other,) = (n for n, of in family.same.items() if of == "decode-new-token-unseen")
    wrong = family.mistaken([other])
    report = grade(asked, b"", 3, "", {}, lambda: Simulated(wrong, "torch"))
    assert [m.id for m in report.mistakes] == ["decode-new-token-unseen"]
