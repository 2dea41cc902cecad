"""Whole grades in real processes: every right style passes, every wrong file is rejected.

`tests/honest/<question>/<style>.py` and `tests/wrong/<question>/<mistake>.py` were written without
looking at the reference or at the implementation of the mistakes; but for three of the wrong ones:
cached-attention's mask-fill-weak and softmax-overflow, and paged-decode's mask-fill-weak.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from grader.report import Report
from grader.session import Grader
from questions import index

TESTS = Path(__file__).resolve().parent.parent
BANK = index.load()
CODE = sorted(i for i, q in BANK.questions.items() if q["kind"] in ("code", "debug"))
REJECTED = ("wrong_answer", "runtime_error")  # some mistakes give shapes that do not fit
WRONG = sorted(p.name for p in (TESTS / "wrong").iterdir())


@pytest.fixture(scope="module")
def grader() -> Iterator[Grader]:
    with Grader() as one:
        yield one


def grade(grader: Grader, question: str, file: Path, seed: int) -> Report:
    return grader.grade(
        BANK.questions[question], file.read_bytes(), seed, file.name, BANK.mistakes, None
    )


def honest_over(grader: Grader, question: str, seeds: range) -> None:
    files = sorted((TESTS / "honest" / question).glob("*.py"))
    assert len(files) >= 3, f"{question} has too few right answers"
    for file in files:
        for seed in seeds:
            report = grade(grader, question, file, seed)
            assert report.verdict == "passed", (file.name, seed, report.summary, report.checks)
            assert report.score == 1.0


@pytest.mark.parametrize("question", CODE)
def test_every_right_style_passes(grader: Grader, question: str) -> None:
    honest_over(grader, question, range(2))


@pytest.mark.proof
@pytest.mark.parametrize("question", CODE)
def test_every_right_style_passes_over_many_seeds(grader: Grader, question: str) -> None:
    honest_over(grader, question, range(50))


@pytest.mark.parametrize("question", WRONG)
def test_every_wrong_file_is_rejected_and_never_given_another_name(
    grader: Grader, question: str
) -> None:
    files = sorted((TESTS / "wrong" / question).glob("*.py"))
    assert {f.stem for f in files} <= set(BANK.questions[question]["mistakes"])
    named = 0
    for file in files:
        report = grade(grader, question, file, 11)
        assert report.verdict in REJECTED, (file.name, report.verdict, report.summary)
        names = [m.id for m in report.mistakes]
        assert names in ([], [file.stem]), (file.name, names)
        named += bool(names)
    # A file may read a mistake another way than its model does; then silence is right.
    assert named >= len(files) * 0.65, f"{named} of {len(files)} named"


@pytest.mark.proof
@pytest.mark.parametrize("question", WRONG)
def test_every_wrong_file_is_rejected_over_many_seeds(grader: Grader, question: str) -> None:
    for file in sorted((TESTS / "wrong" / question).glob("*.py")):
        for seed in range(20):
            report = grade(grader, question, file, seed)
            assert report.verdict in REJECTED, (file.name, seed, report.verdict)
            assert [m.id for m in report.mistakes] in ([], [file.stem]), (file.name, seed)
