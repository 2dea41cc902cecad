"""The sandbox refuses no right answer: each tier grades the honest files as no sandbox would."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from grader.session import Grader
from questions import index

HONEST = Path(__file__).resolve().parents[1] / "honest"
BANK = index.load()
QUESTIONS = sorted(folder.name for folder in HONEST.iterdir() if folder.is_dir())
TIERS = {"tier-3": (3, None), "tier-2-abi-2": (2, 2)}


@pytest.fixture(scope="module", params=TIERS)
def grader(request: pytest.FixtureRequest) -> Iterator[Grader]:
    tier, abi = TIERS[request.param]
    with Grader(highest=tier, abi=abi) as one:
        one.start()
        if one.policy.tier != tier:
            pytest.skip(f"this machine has no tier {tier}: {one.policy.lacking}")
        yield one


def passes(grader: Grader, id_: str, file: Path, seed: int, case: str | None = None) -> None:
    report = grader.grade(
        BANK.questions[id_], file.read_bytes(), seed, file.name, BANK.mistakes, case
    )
    assert report.verdict == "passed", (file.name, report.verdict, report.summary, report.output)
    refused = [note for note in report.notes if note.startswith("It tried to")]
    assert not refused, (file.name, refused)


@pytest.mark.parametrize("id_", QUESTIONS)
def test_two_right_answers_to_each_question_pass(grader: Grader, id_: str) -> None:
    """One case each: the corpus test grades every file whole, on the highest tier."""
    files = sorted((HONEST / id_).glob("*.py"))
    for file in (files[0], files[-1]):
        passes(grader, id_, file, 3, BANK.questions[id_]["cases"][0]["id"])


@pytest.mark.proof
@pytest.mark.parametrize("id_", QUESTIONS)
def test_every_right_answer_passes(grader: Grader, id_: str) -> None:
    for file in sorted((HONEST / id_).glob("*.py")):
        passes(grader, id_, file, 4)
