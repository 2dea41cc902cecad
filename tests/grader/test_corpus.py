"""Whole grades in real processes: every right style passes, every wrong file is rejected.

`tests/wrong_pairs/<question>/<first>+<second>.py` makes two mistakes at once.

`tests/honest/<question>/<style>.py` and `tests/wrong/<question>/<mistake>.py` were written without
looking at the reference or at the implementation of the mistakes; but for all of cached-gqa, by
someone who knew both, and five more of the wrong ones: cached-attention's mask-fill-weak and
softmax-overflow, paged-decode's mask-fill-weak, and both files named rope-tables-bfloat16. Of the
debug drills' files one in ten was silent or given another name at first, and was written anew. A
`<mistake>~<how>.py` got no name at first: that way to make the mistake was added for its sake.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from pathlib import Path

import pytest

from drills.solutions import reference_source
from grader.report import Report
from grader.session import Grader
from questions import index
from questions.kinds import CODE_KINDS

TESTS = Path(__file__).resolve().parent.parent
BANK = index.load()
CODE = sorted(i for i, q in BANK.questions.items() if q["kind"] in CODE_KINDS)
TRITON = sorted((TESTS / "honest_triton").glob("*/*.py"))
REJECTED = ("wrong_answer", "runtime_error")  # some mistakes give shapes that do not fit
WRONG = sorted(p.name for p in (TESTS / "wrong").iterdir())
PAIRS = sorted((TESTS / "wrong_pairs").glob("*/*.py"))
PAIRED = sorted({p.parent.name for p in PAIRS})


@pytest.fixture(scope="module")
def grader() -> Iterator[Grader]:
    with Grader() as one:
        yield one


def grade(grader: Grader, question: str, file: Path, seed: int) -> Report:
    asked = {**BANK.questions[question], "speed": None}  # which fails nobody, and takes seconds
    return grader.grade(asked, file.read_bytes(), seed, file.name, BANK.mistakes)


def mistake_of(file: Path) -> str:
    """What a wrong file does: its name up to a "~"."""
    return file.stem.partition("~")[0]


def honest_over(grader: Grader, question: str, seeds: range) -> None:
    files = sorted((TESTS / "honest" / question).glob("*.py"))
    assert len(files) >= 4, f"{question} has too few right answers"
    for seed in seeds:  # the judge remembers what it knows of the last one
        for file in files:
            report = grade(grader, question, file, seed)
            assert report.verdict == "passed", (file.name, seed, report.summary, report.checks)
            assert report.score == 1.0


@pytest.mark.parametrize("question", CODE)
def test_every_right_style_passes(grader: Grader, question: str) -> None:
    honest_over(grader, question, range(1))


@pytest.mark.parametrize(
    "question",
    [
        # Of the others, `drill bank check` proves as much of the reference itself.
        pytest.param(id_, marks=[pytest.mark.proof] * (BANK.questions[id_]["kind"] != "kernel"))
        for id_ in CODE
    ],
)
def test_the_solution_that_is_shown_passes(grader: Grader, question: str) -> None:
    asked = BANK.questions[question]
    if asked["framework"] == "numpy":
        pytest.skip("the reference is torch's")
    source = reference_source(asked["reference"]).encode()
    report = grader.grade({**asked, "speed": None}, source, 3, "solution.py", BANK.mistakes)
    assert report.verdict == "passed", (report.summary, report.checks)


@pytest.mark.skipif(importlib.util.find_spec("triton") is None, reason="Triton is not installed")
@pytest.mark.parametrize("file", TRITON, ids=[f"{f.parent.name}/{f.stem}" for f in TRITON])
def test_every_right_style_in_triton_passes_under_its_interpreter(
    grader: Grader, file: Path
) -> None:
    asked = BANK.questions[file.parent.name]
    report = grader.grade(asked, file.read_bytes(), 1, file.name, BANK.mistakes, device="interpret")
    assert report.verdict == "passed", (report.summary, report.checks)


@pytest.mark.proof
@pytest.mark.parametrize("question", CODE)
def test_every_right_style_passes_over_many_seeds(grader: Grader, question: str) -> None:
    honest_over(grader, question, range(50))


@pytest.mark.parametrize("question", WRONG)
def test_every_wrong_file_is_rejected_and_never_given_another_name(
    grader: Grader, question: str
) -> None:
    files = sorted((TESTS / "wrong" / question).glob("*.py"))
    assert {mistake_of(f) for f in files} <= set(BANK.questions[question]["mistakes"])
    named = 0
    for file in files:
        report = grade(grader, question, file, 11)
        assert report.verdict in REJECTED, (file.name, report.verdict, report.summary)
        names = [m.id for m in report.mistakes]
        assert names in ([], [mistake_of(file)]), (file.name, names)
        named += bool(names)
    # A file may read a mistake another way than its model does; then silence is right.
    assert named >= len(files) * 0.95, f"{named} of {len(files)} named"


@pytest.mark.proof
@pytest.mark.parametrize("question", WRONG)
def test_every_wrong_file_is_rejected_over_many_seeds(grader: Grader, question: str) -> None:
    for seed in range(20):
        for file in sorted((TESTS / "wrong" / question).glob("*.py")):
            report = grade(grader, question, file, seed)
            assert report.verdict in REJECTED, (file.name, seed, report.verdict)
            assert [m.id for m in report.mistakes] in ([], [mistake_of(file)]), (file.name, seed)


def names_of_pair(grader: Grader, file: Path, seed: int) -> int:
    """How many of its two mistakes are named; the file is rejected, and no third one is named."""
    both = set(file.stem.split("+"))
    assert len(both) == 2
    assert both <= set(BANK.questions[file.parent.name]["mistakes"]), file
    report = grade(grader, file.parent.name, file, seed)
    assert report.verdict in REJECTED, (file, seed, report.verdict, report.summary)
    names = {m.id for m in report.mistakes}
    assert names <= both, (file, seed, names)
    return len(names)


@pytest.mark.timeout(600)
def test_every_pair_of_mistakes_is_rejected_and_most_are_named_in_full(grader: Grader) -> None:
    assert len(PAIRS) >= 30
    assert len(PAIRED) >= 12
    counts = {f"{p.parent.name}/{p.stem}": names_of_pair(grader, p, 11) for p in PAIRS}
    less = [name for name, count in counts.items() if count < 2]
    assert len(less) <= len(PAIRS) * 0.2, less


@pytest.mark.proof
@pytest.mark.parametrize("question", PAIRED)
def test_every_pair_of_mistakes_is_rejected_over_many_seeds(grader: Grader, question: str) -> None:
    for seed in range(20):
        for file in (p for p in PAIRS if p.parent.name == question):
            names_of_pair(grader, file, seed)
