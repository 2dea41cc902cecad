"""Every sentence about where the wrong entries lie is true of the entries it describes."""

from __future__ import annotations

import re

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from grader.judging.locate import locate

AXES = ("batch", "head", "row", "feature")
NOUNS = {"batch element": 0, "head": 1, "row": 2, "feature": 3}
ORDER = {"second": 2, "third": 3, "fourth": 4, "fifth": 5, "sixth": 6, "seventh": 7, "eighth": 8}
NOUN = r"(?P<noun>batch element|head|row|feature)s?"
PHRASES = [
    rf"only {NOUN} (?P<from>\d+) to (?P<to>\d+)",
    rf"only {NOUN} (?P<list>\d+(?:, \d+)*)(?P<more> and so on)?"
    r"(?:: every (?P<step>\w+))?(?:, the (?P<end>first|last))?",
    rf"every {NOUN} from (?P<start>\d+) on",
    rf"every {NOUN} but (?P<but>\d+)(?:, the (?P<tail>last))?",
    rf"in (?P<some>\d+) of (?P<of>\d+) {NOUN}",
    rf"every {NOUN}",
    rf"{NOUN} 0 (?:is|to (?P<right>\d+) are) right",
]


def check(text: str, wrong: Tensor, nouns: list[str]) -> None:
    """Read the phrases one after the other; each must hold, and nothing may be left over."""
    if text == "everywhere":
        assert wrong.all()
        return
    while text:
        found = next(m for m in (re.match(p, text) for p in PHRASES) if m)
        axis = nouns.index(found["noun"])
        size = wrong.shape[axis]
        others = [n for n in range(wrong.dim()) if n != axis]
        rows = wrong.permute(axis, *others).reshape(size, -1).any(1)
        touched = set(rows.nonzero().flatten().tolist())
        held(found, touched, size)
        text = text[found.end() :].lstrip(",; ")


def held(found: re.Match[str], touched: set[int], size: int) -> None:
    group = found.groupdict()
    if "right" in group:
        assert not touched & set(range(int(group["right"] or 0) + 1))
    elif "from" in group:
        assert touched == set(range(int(group["from"]), int(group["to"]) + 1))
    elif "list" in group:
        listed = [int(n) for n in group["list"].split(", ")]
        if group["more"]:
            assert touched >= set(listed)
        else:
            assert touched == set(listed)
        if group["step"]:
            step = ORDER[group["step"]]
            assert touched == set(range(listed[0], size, step))
            assert listed[0] < step
        if group["end"]:
            assert listed == ([0] if group["end"] == "first" else [size - 1])
    elif "start" in group:
        assert touched == set(range(int(group["start"]), size))
    elif "but" in group:
        assert touched == set(range(size)) - {int(group["but"])}
        assert not group["tail"] or int(group["but"]) == size - 1
    elif "some" in group:
        assert (len(touched), size) == (int(group["some"]), int(group["of"]))
    else:
        assert touched == set(range(size))


@st.composite
def masks(draw: st.DrawFn) -> Tensor:
    """Blocks of chosen indices along each axis, now and then with some entries put right again."""
    shape = [draw(st.integers(1, n)) for n in (3, 3, 13, 3)]
    wrong = torch.ones(shape, dtype=torch.bool)
    for axis, size in enumerate(shape):
        kind = draw(st.sampled_from(["all", "all", "some", "tail", "step", "one"]))
        at = {
            "all": list(range(size)),
            "some": draw(st.lists(st.integers(0, size - 1), min_size=1)),
            "tail": list(range(draw(st.integers(0, size - 1)), size)),
            "step": list(range(draw(st.integers(0, size - 1)), size, draw(st.integers(1, 5)))),
            "one": [draw(st.integers(0, size - 1))],
        }[kind]
        keep = torch.zeros(size, dtype=torch.bool)
        keep[at] = True
        wrong &= keep.view([-1 if n == axis else 1 for n in range(4)])
    for _ in range(draw(st.sampled_from([0, 0, 1, 4]))):
        wrong[tuple(draw(st.integers(0, size - 1)) for size in shape)] = False
    return wrong


@settings(max_examples=400, deadline=None)
@given(masks())
def test_what_is_said_of_the_wrong_entries_is_true(wrong: Tensor) -> None:
    text = locate(wrong, AXES)
    if not wrong.any():
        assert text == ""
        return
    nouns = list(NOUNS)
    slices = re.split(r"(?:^|; )(batch element|head|row) (\d+): ", text)
    if len(slices) == 1:
        check(text, wrong, nouns)
        return
    said = set()
    for noun, index, part in zip(slices[1::3], slices[2::3], slices[3::3], strict=True):
        axis = NOUNS[noun]
        said.add(int(index))
        check(part, wrong.select(axis, int(index)), [n for n in nouns if n != noun])
    others = [n for n in range(4) if n != axis]
    touched = wrong.permute(axis, *others).reshape(wrong.shape[axis], -1).any(1)
    assert set(touched.nonzero().flatten().tolist()) >= said


@pytest.mark.parametrize(
    ("at", "says"),
    [
        ((slice(None), slice(None), slice(1, None)), "every row from 1 on; row 0 is right"),
        ((slice(None), slice(None), slice(3, None, 4)), "only rows 3, 7, 11: every fourth"),
        ((slice(None), slice(None), 11), "only row 11, the last"),
        ((slice(None), 1), "only head 1, the last"),
        ((0,), "only batch element 0, the first"),
        ((slice(None), slice(None), slice(2, 5)), "only rows 2 to 4"),
        ((slice(None), slice(None), slice(0, 11)), "every row but 11, the last"),
    ],
)
def test_the_patterns_people_meet_have_their_words(at: tuple[int | slice, ...], says: str) -> None:
    wrong = torch.zeros(2, 2, 12, 4, dtype=torch.bool)
    wrong[at] = True
    assert says in locate(wrong, AXES)


def test_batch_elements_that_differ_are_told_apart() -> None:
    wrong = torch.zeros(2, 1, 8, 4, dtype=torch.bool)
    wrong[0, :, 5:] = True
    wrong[1, :, 2:] = True
    said = locate(wrong, AXES)
    assert "batch element 0: every row from 5 on" in said
    assert "batch element 1: every row from 2 on" in said


@pytest.mark.parametrize(("t", "s"), [(4, 4), (3, 6)])
def test_a_mask_is_described_by_its_diagonals(t: int, s: int) -> None:
    offset = torch.arange(s) - torch.arange(t)[:, None] - (s - t)
    assert locate(offset == 0, ("row", "column")).startswith("only the diagonal")
    assert "one right of the diagonal" in locate(offset == 1, ("row", "column"))
    assert "left of the diagonal" in locate(offset < 0, ("row", "column"))
