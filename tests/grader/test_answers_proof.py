"""The bank's questions without code hold what they promise, and a broken one is found."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from grader.answers.proof import findings
from questions import loader

ROOT = Path(loader.__file__).parent
KINDS = ("compute", "derive", "trace", "choice", "explain")
FILES = sorted(
    path
    for path in ROOT.glob("*/*.yaml")
    if any(f"\nkind: {kind}\n" in path.read_text(encoding="utf-8") for kind in KINDS)
)


def question(id_: str) -> dict[str, Any]:
    (path,) = ROOT.glob(f"*/{id_}.yaml")
    return loader.load_file(path).model_dump(mode="json")


@pytest.mark.parametrize("path", FILES, ids=lambda p: p.stem)
def test_a_question_of_the_bank_has_no_findings(path: Path) -> None:
    assert findings(loader.load_file(path).model_dump(mode="json")) == []


def _broken(id_: str, **changes: Any) -> list[str]:
    return findings({**question(id_), **changes})


def test_a_compute_mistake_that_never_shows_is_found() -> None:
    assert "for none of 20 seeds" in _broken("flops-crossover", mistakes=["rounded-up"])[0]


def test_a_derive_mistake_equal_to_its_target_is_found() -> None:
    asked = question("derive-sqrt-dk")
    wrong = {"id": "same", "expression": "d_k^0.5", "says": "."}
    asked["steps"][3] = {**asked["steps"][3], "mistakes": [wrong]}
    assert findings(asked) == [
        "step `std-dot`, target equals another expression of its step",
        "step `std-dot`, same equals another expression of its step",
    ]
    asked["steps"][3] = {**asked["steps"][3], "target": "sqrt(x)"}
    assert "“x” is not a name" in findings(asked)[0]


def test_a_choice_without_one_answer_is_found() -> None:
    asked = question("choice-score-memory")
    for option in asked["options"]:
        option["correct"] = False
    assert "no option is correct" in findings(asked)


@pytest.mark.parametrize(
    ("pattern", "says"),
    [
        ("(", "is not one"),
        ("^(a|aa)+$", "repeats what already repeats"),
        ("(?:a+)+b", "repeats what already repeats"),
        (r"(?:\w+ ?){0,60}x", "repeats what already repeats"),
        (r"(?=(?:a*)*)b", "repeats what already repeats"),
        ("a.*a.*a.*a.*a.*b", "takes too long"),
    ],
)
def test_a_broken_or_slow_pattern_is_found(pattern: str, says: str) -> None:
    claim = {**question("explain-sqrt-dk")["wrong_claims"][0], "says": [pattern]}
    assert says in _broken("explain-sqrt-dk", wrong_claims=[claim])[0]


def test_a_model_answer_that_does_not_pass_is_found() -> None:
    assert "does not pass: ['k1'" in _broken("explain-sqrt-dk", model_answer="It scales.")[0]
