"""A question as one seed serves it: its parameters, its texts filled in, what it asks for."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import Any

from drills.app import App, Question
from drills.errors import DrillError
from drills.sitting import BEGINNINGS
from questions.kinds import CODE_KINDS
from questions.text import fill

FORMAT = 1
BY_PARTS = ("derive", "trace")  # answered one part a line
_LARGEST_SEED = 99_999  # short enough to type again
_UNTOLD = "a point that a good answer makes"  # the rubric itself would be the answer


@dataclass(frozen=True)
class Served:
    """`parameters` are what `seed` draws; `parts` are {"id", "asks"}, for answers of many parts."""

    question: Question
    seed: int
    parameters: dict[str, Any] = field(default_factory=dict)
    parts: tuple[dict[str, str], ...] = ()

    @property
    def id(self) -> str:
        return str(self.question["id"])

    @property
    def by_parts(self) -> bool:
        """True where the answer is one part a line."""
        return self.question["kind"] in BY_PARTS and len(self.parts) > 1

    def text(self, source: str) -> str:
        return fill(source, self.parameters)


def draw_seed() -> int:
    return int.from_bytes(os.urandom(4), "big") % _LARGEST_SEED + 1


def draw_seed_from(text: str) -> int:
    """The seed that belongs to `text`: the same each time."""
    from random import Random

    return Random(text).randint(1, _LARGEST_SEED)


def serve(question: Question, seed: int) -> Served:
    """Draw the parameters. Code questions draw their cases only when they are graded."""
    if question["kind"] in CODE_KINDS:
        return Served(question, seed)
    from grader import answers

    return Served(
        question, seed, answers.parameters(question, seed), tuple(answers.parts(question, seed))
    )


def last_seed(app: App, question_id: str) -> int | None:
    """The seed that the learner saw last, or None where the question was never shown."""
    for event in reversed(app.store.events(question_id)):
        if event.name in BEGINNINGS and event.seed is not None:
            return event.seed
    return None


def seed_to_show(app: App, question_id: str) -> int:
    """While a sitting is on, the numbers stay the same until they were answered wrongly: the
    report then told the answer. A new sitting draws new ones."""
    known = last_seed(app, question_id)
    if known is None or not app.sitting(question_id).unfinished:
        return draw_seed()
    judged = any(
        attempt.seed == known and attempt.verdict != "invalid"
        for attempt in app.store.attempts(question_id)
    )
    return draw_seed() if judged else known


def serve_to_answer(app: App, question: Question, seed: int | None) -> Served:
    """What an answer is for: the numbers of `seed`, else those that the learner saw last.

    Raises DrillError (exit 2) where the question has numbers, and none were shown.
    """
    question_id = question["id"]
    chosen = last_seed(app, question_id) if seed is None else seed
    served = serve(question, draw_seed() if chosen is None else chosen)
    if chosen is None and served.parameters:
        raise DrillError(
            f"{question_id} has numbers of its own each time, and was not shown yet: "
            f"drill show {question_id}, or name a --seed."
        )
    return served


def answer_command(app: App, served: Served) -> str:
    """What to type to answer. The seed is remembered, but for a home that cannot be written."""
    seed = f" --seed {served.seed}" if served.parameters and not app.store.recording else ""
    return f"drill answer {served.id}{seed}"


def as_json(served: Served) -> dict[str, Any]:
    """What `drill show --json` prints: everything that the learner may know, no answers."""
    question = served.question
    data: dict[str, Any] = {"format": FORMAT, "seed": served.seed}
    for key in ("id", "title", "kind", "topic", "level", "minutes", "revision"):
        data[key] = question[key]
    data["prompt"] = served.text(question["prompt"])
    data["parameters"] = served.parameters
    data["parts"] = [
        {**part, "asks": _UNTOLD} if question["kind"] == "explain" else part
        for part in served.parts
    ]
    for key in ("companies", "follows", "sources"):
        data[key] = list(question.get(key) or ())
    data["hints"] = len(question["hints"])
    kind = question["kind"]
    if kind in CODE_KINDS:
        data["entry"] = question["entry"]
        data["starter"] = question["starter"]
        data["forbidden"] = list(question.get("forbidden") or ())
    elif kind == "choice":
        data["several"] = question["several"]
        data["options"] = [
            {"id": option["id"], "text": served.text(option["text"])}
            for option in question["options"]
        ]
    elif kind == "compute":
        data["unit"] = question["unit"]
    elif kind == "derive":
        data["symbols"] = question["symbols"]
    return data
