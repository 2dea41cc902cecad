"""Questions about what was seen, and answers held against what was measured. No torch here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from grader.answers import choice as choices
from grader.answers.quantity import fits, read_quantity
from grader.answers.reading import Unreadable, shown
from grader.answers.units import QUANTITIES, significant

LEAST = 0.03
"""Relative tolerance of a number that is read off a table of three digits."""

MOST = 0.5
"""However noisy the machine was: what is further off is no reading of that table."""

SPREADS = 3.0
"""Standard errors that an answer may be off."""


def number(
    id_: str,
    asks: str,
    answer: float,
    unit: str,
    because: str,
    error: float = 0.0,
    computed: bool = False,
) -> dict[str, Any]:
    """A number in the base unit `unit` of `grader.answers.units`; `error` is its relative standard
    error as measured. `computed`: it follows from sizes and counts, not from times."""
    tolerance = min(MOST, max(LEAST, SPREADS * error))
    return {
        "id": id_,
        "kind": "number",
        "asks": asks,
        "unit": unit,
        "answer": answer,
        "tolerance": tolerance,
        "origin": "computed" if computed else "measured",
        "because": because,
    }


def choice(
    id_: str, asks: str, options: Sequence[tuple[str, str]], right: int, because: str
) -> dict[str, Any]:
    """One of several options, each a text and what is to be said of it; `right` counts from 0."""
    return {
        "id": id_,
        "kind": "choice",
        "asks": asks,
        "several": False,
        "origin": "option",
        "options": [
            {"id": f"option-{n}", "text": text, "correct": n == right, "explanation": told}
            for n, (text, told) in enumerate(options)
        ],
        "because": because,
    }


def public(question: Mapping[str, Any]) -> dict[str, Any]:
    """What may be seen before the answer."""
    told = {key: question[key] for key in ("id", "kind", "asks")}
    if question["kind"] == "number":
        return {**told, "unit": question["unit"]}
    return {**told, "options": [option["text"] for option in question["options"]]}


def check(question: Mapping[str, Any], text: str) -> None:
    """Raises Unreadable with one sentence where `text` cannot be an answer."""
    if question["kind"] == "number":
        read_quantity(text, question["unit"])
    else:
        choices.chosen(dict(question), text)


def grade(question: Mapping[str, Any], text: str) -> dict[str, Any]:
    """{"id", "verdict", "given", "right", "origin", "message"}; the verdict is passed,
    wrong_answer or invalid. `origin` is what the right answer is: "measured", "computed", or one
    of the options ("option")."""
    found = {
        "id": question["id"],
        "given": shown(text, 80),
        "right": right_answer(question),
        "origin": question["origin"],
    }
    try:
        if question["kind"] == "number":
            typed = read_quantity(text, question["unit"])
            passed = _fits(typed.value, question) or (
                typed.sister is not None and _fits(typed.sister, question)
            )
            message = question["because"]
        else:
            picked = choices.chosen(dict(question), text).pop()
            option = question["options"][picked]
            passed = option["correct"]
            message = f"{option['explanation']} {question['because']}".strip()
    except Unreadable as error:
        return {**found, "verdict": "invalid", "message": str(error)}
    return {**found, "verdict": "passed" if passed else "wrong_answer", "message": message}


def right_answer(question: Mapping[str, Any]) -> str:
    """The right answer as it is shown: a number with its tolerance, or an option's letter."""
    if question["kind"] == "choice":
        place = next(n for n, option in enumerate(question["options"]) if option["correct"])
        return f"{choices.LETTERS[place]}) {question['options'][place]['text']}"
    unit = "" if question["unit"] == "none" else f" {QUANTITIES[question['unit']][0]}"
    allowed = f"{100 * question['tolerance']:.0f}%"
    return f"{significant(question['answer'])}{unit} (within {allowed})"


def _fits(value: Fraction, question: Mapping[str, Any]) -> bool:
    return fits(value, question["answer"], question["tolerance"])
