"""Answers that are not code: numbers, expressions, matrices, options and prose.

Each kind has its own module, imported only when asked for: `drill answer` on a number must start
without sympy.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from grader.report import Report

KINDS = ("compute", "derive", "trace", "choice", "explain")


def grade_answer(
    question: dict[str, Any], text: str, seed: int, mistakes: dict[str, Any]
) -> Report:
    """Grade `text` against the parameters of `seed`; `mistakes` holds the named mistakes' texts.

    An answer that cannot be read gives the verdict `invalid`, with one sentence that says what to
    write. Raises ValueError for a question that is not answered by text.
    """
    report: Report = _module(question).grade(question, text, seed, mistakes)
    return report


def parameters(question: dict[str, Any], seed: int) -> dict[str, Any]:
    """The values that `seed` gives the question's parameters; empty where it has none."""
    from grader.answers.draw import parameters

    return parameters(question, seed)


def parts(question: dict[str, Any], seed: int = 0) -> list[dict[str, str]]:
    """The ids of the answer's parts, in the order they are given, and what each asks."""
    if question["kind"] == "compute":
        from questions.text import fill

        return [{"id": "answer", "asks": fill(question["asks"], parameters(question, seed))}]
    rows = {"derive": "steps", "trace": "parts", "choice": "options", "explain": "key_points"}
    if question["kind"] not in rows:
        return []
    return [
        {"id": row["id"], "asks": row.get("asks") or row["text"]}
        for row in question[rows[question["kind"]]]
    ]


def apply_review(
    report: Report, confirmed: dict[str, bool], question: dict[str, Any] | None = None
) -> Report:
    """An explanation's report with undecided key points settled by the learner's word.

    `confirmed` maps part ids to whether the point was made; parts already decided do not change.
    With `question` the score weighs the points as the question does, else all alike.
    """
    from grader.answers.explain import apply_review

    return apply_review(report, confirmed, question)


def unreadable(question: dict[str, Any], number: int, text: str) -> str:
    """Why part `number` (from 0) of a derivation or trace cannot be read, in a sentence; "" where
    it can."""
    from grader.answers.reading import Unreadable

    try:
        if question["kind"] == "trace":
            from grader.answers.matrices import read_matrices

            read_matrices(text, [tuple(question["parts"][number]["shape"])])
        else:
            from grader.answers.derive import lines_of
            from grader.answers.expressions import parse

            alone = {**question, "steps": [question["steps"][number]]}
            parse(lines_of(alone, text)[0], question["symbols"])
    except Unreadable as error:
        return str(error)
    return ""


def _module(question: dict[str, Any]) -> Any:
    if question["kind"] not in KINDS:
        raise ValueError(f"{question['id']} is answered with a file, not with text")
    return import_module(f"grader.answers.{question['kind']}")
