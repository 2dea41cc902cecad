"""The draws of compute questions: each known slip shows, and each text fills."""

from __future__ import annotations

import re
from itertools import product
from math import isclose
from pathlib import Path
from typing import Any

import pytest

import questions
from questions.loader import load_file
from questions.text import fill
from reference import counting, models
from reference.mistakes import counting as slips

ROOT = Path(questions.__file__).parent
COMPUTE = [f for f in sorted(ROOT.glob("*/*.yaml")) if "\nkind: compute\n" in f.read_text("utf-8")]
FILES = [pytest.param(f, id=f.stem) for f in COMPUTE]
RATIOS_THAT_MEET = {
    # A one-byte cache: h / h_kv is half of the right number.
    "decode-intensity": {frozenset({"two-byte-rule", "multiply-add-as-one"})},
}


def draws(question: Any) -> list[dict[str, Any]]:
    """Every combination of parameters that a seed may give."""
    given = question.parameters
    rows: list[dict[str, Any]] = [{}]
    if given.model:
        table = models.load()
        rows = [
            {"model": name, **{p: table[name][column] for p, column in given.model.take.items()}}
            for name in given.model.names
        ]
    names = list(given.draw)
    return [
        {**row, **dict(zip(names, values, strict=True))}
        for row in rows
        for values in product(*(given.draw[name] for name in names))
    ]


def answer_of(question: Any, parameters: dict[str, Any]) -> float:
    formula = getattr(counting, question.formula.removeprefix("reference.counting."))
    return float(formula(**parameters))


def slips_of(question: Any, parameters: dict[str, Any]) -> dict[str, float]:
    answer = answer_of(question, parameters)
    found = {m: getattr(slips, m.replace("-", "_"))(answer, parameters) for m in question.mistakes}
    return {m: value for m, value in found.items() if value is not None}


def test_there_are_compute_questions() -> None:
    assert len(COMPUTE) >= 7


@pytest.mark.parametrize("path", FILES)
def test_a_slip_never_passes_for_the_right_number(path: Path) -> None:
    question = load_file(path)
    for parameters in draws(question):
        answer = answer_of(question, parameters)
        for mistake, value in slips_of(question, parameters).items():
            assert not isclose(value, answer, rel_tol=2 * question.tolerance), (
                mistake,
                parameters,
            )


@pytest.mark.parametrize("path", FILES)
def test_slips_differ_from_one_another(path: Path) -> None:
    question = load_file(path)
    allowed = RATIOS_THAT_MEET.get(question.id, set())
    for parameters in draws(question):
        found = sorted(slips_of(question, parameters).items())
        for i, (one, value) in enumerate(found):
            for other, other_value in found[i + 1 :]:
                meets = isclose(value, other_value, rel_tol=2 * question.tolerance)
                assert not meets or frozenset({one, other}) in allowed, (one, other, parameters)


@pytest.mark.parametrize("path", FILES)
def test_every_listed_slip_applies_to_some_draw(path: Path) -> None:
    question = load_file(path)
    applied = {m for parameters in draws(question) for m in slips_of(question, parameters)}
    assert applied == set(question.mistakes)


@pytest.mark.parametrize("path", FILES)
def test_no_name_is_left_unfilled(path: Path) -> None:
    question = load_file(path)
    texts = [question.prompt, question.working, question.asks, question.explanation]
    texts += question.hints
    for parameters in draws(question):
        for text in texts:
            assert not re.search(r"\{[A-Za-z_]\w*\}", fill(text, parameters)), text
