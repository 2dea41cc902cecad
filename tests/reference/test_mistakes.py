"""The families of known mistakes: right by default, each listed mistake a function of its own."""

from __future__ import annotations

import itertools
import re
from pathlib import Path

import pytest
import torch
import yaml
from drawing import Args
from mistake_cases import (
    DRILLS,
    cases_of,
    differ,
    family_of,
    mistakes_of,
    outputs,
    reference_of,
)
from torch import Tensor

FILES = (Path(__file__).resolve().parents[2] / "questions" / "mistakes").glob("*.yaml")
TEXTS = {id_: text for file in FILES for id_, text in yaml.safe_load(file.read_text()).items()}
# (dtype, what counts as a difference): well above rounding, well below any mistake.
PRECISIONS = ((torch.float64, 1e-4), (torch.bfloat16, 0.05))
Results = list[tuple[float, list[Tensor] | None]]


def attempt(drill: str, args: Args, switches: dict[str, object]) -> list[Tensor] | None:
    """None where such code cannot run, for the shapes do not fit."""
    try:
        return outputs(family_of(drill)(*args, **switches))
    except (RuntimeError, ValueError):
        return None


def run(drill: str, switches: dict[str, object]) -> Results:
    return [
        (by, attempt(drill, args, switches))
        for dtype, by in PRECISIONS
        for args in cases_of(drill, dtype)
    ]


def somewhere_different(one: Results, other: Results) -> bool:
    return any(
        a is not None and b is not None and differ(a, b, by)
        for (by, a), (_, b) in zip(one, other, strict=True)
    )


@pytest.mark.parametrize("drill", DRILLS)
def test_a_family_without_switches_is_right(drill: str) -> None:
    for dtype, by in ((torch.float64, 1e-10), (torch.float32, 2e-3), (torch.bfloat16, 0.1)):
        for args in cases_of(drill, dtype):
            right = outputs(reference_of(drill)(*args))
            assert not differ(outputs(family_of(drill)(*args)), right, by)


@pytest.mark.parametrize("drill", DRILLS)
def test_every_listed_mistake_differs_from_right_and_from_every_other(drill: str) -> None:
    found = {name: run(drill, switches) for name, switches in mistakes_of(drill).items()}
    right = run(drill, {})
    harmless = [name for name, result in found.items() if not somewhere_different(result, right)]
    same = [
        (a, b)
        for a, b in itertools.combinations(found, 2)
        if not somewhere_different(found[a], found[b])
    ]
    assert harmless == []
    assert same == []


@pytest.mark.parametrize("drill", DRILLS)
def test_two_mistakes_without_a_common_switch_combine_and_never_cancel_out(drill: str) -> None:
    mistakes = mistakes_of(drill)
    right = [outputs(reference_of(drill)(*args)) for args in cases_of(drill, torch.float64)]
    pairs = [
        (a, b)
        for a, b in itertools.combinations(mistakes, 2)
        if not mistakes[a].keys() & mistakes[b].keys()
    ]
    assert pairs
    for a, b in pairs:
        merged = {**mistakes[a], **mistakes[b]}
        if any("input" in str(value) for value in merged.values()):
            continue  # of the input's precision: float64 shows nothing
        results = (attempt(drill, args, merged) for args in cases_of(drill, torch.float64))
        assert any(
            out is not None and differ(out, its, 1e-4)
            for out, its in zip(results, right, strict=True)
        ), (a, b)


@pytest.mark.parametrize(
    ("drill", "least"),
    [(drill, 12 if drill in ("attention", "causal-mha") else 8) for drill in DRILLS],
)
def test_a_drill_lists_enough_mistakes_and_each_has_its_words(drill: str, least: int) -> None:
    mistakes = mistakes_of(drill)
    assert len(mistakes) >= least
    for name in mistakes:
        text = TEXTS[name]
        assert set(text) == {"title", "explanation", "hint"}
        assert not text["title"].endswith(".")
        assert len(text["title"]) <= 110
        assert len(re.findall(r"[.!?](?:\s|$)", text["explanation"])) >= 2
        assert "{" not in "".join(text.values()), "these words name no size of a case"


def test_a_family_leaves_its_inputs_as_they_were() -> None:
    for drill in DRILLS:
        for args, fresh in zip(
            cases_of(drill, torch.float32), cases_of(drill, torch.float32), strict=True
        ):
            for switches in mistakes_of(drill).values():
                attempt(drill, args, switches)
            for used, unused in zip(args, fresh, strict=True):
                assert torch.equal(torch.as_tensor(used), torch.as_tensor(unused))


def test_naive_exponentials_overflow_in_float64_where_float32_would() -> None:
    q = torch.tensor([[[[100.0]]]], dtype=torch.float64)
    k = torch.ones(1, 1, 2, 1, dtype=torch.float64)
    family = family_of("attention")
    assert bool(family(q, k, k, form="naive").isnan().all())
    assert bool(family(q / 2, k, k, form="naive").isfinite().all())


def test_angles_in_the_input_s_dtype_are_wrong_in_bfloat16_alone() -> None:
    family, reference = family_of("rope"), reference_of("rope")
    for dtype, wrong in ((torch.float32, False), (torch.bfloat16, True)):
        x, positions, *rest = cases_of("rope", dtype)[1]
        out = outputs(family(x, positions, *rest, precision="input"))
        assert differ(out, outputs(reference(x, positions, *rest)), 0.1) is wrong
