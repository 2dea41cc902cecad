"""A number with a unit, for the parameters that the seed gave. Serving calls this: it imports the
standard library and pure-Python parts of `reference` only."""

from __future__ import annotations

import importlib
import re
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import Any

from grader.answers import draw, numbers, units
from grader.answers.reading import Unreadable, shown
from grader.report import NamedMistake, Part, Report, Verdict
from questions.text import fill

PART = "answer"
_TOGETHER = 0.005  # two slips at once are named on closer evidence than one
_EITHER = 3  # up to so many slips that give one number are shown side by side


@dataclass(frozen=True)
class Quantity:
    """A typed number in base units, as its unit says and as the unit's namesake would have it."""

    value: Fraction
    unit: units.Unit
    sister: Fraction | None = None


def read_quantity(text: str, unit: str) -> Quantity:
    """The number and unit of an answer such as `2*36*8 = 4.83 GB (4.5 GiB)`.

    `unit` is the question's base unit. Raises Unreadable with one sentence.
    """
    return _quantity(numbers.last_part(text), unit)


def _quantity(text: str, unit: str) -> Quantity:
    value, rest = numbers.read(text)
    again = re.fullmatch(r"([^()]*)\(([^()]*)\)", rest)
    read = units.read_unit(again[1] if again else rest, unit)
    sister = None if read.sister is None else value * read.sister
    quantity = Quantity(value * read.factor, read, sister)
    if again and re.match(r" *[~≈]? *[\d.]", again[2]):
        other = _quantity(numbers.last_part(again[2]), unit)
        if not _fits(quantity.value, float(other.value), 0.01):
            raise Unreadable(
                f"“{shown(text)}” gives two different values: write the one that you mean."
            )
    return quantity


def _fits(value: Fraction, target: float, tolerance: float) -> bool:
    exact = Fraction(target)
    return abs(value - exact) <= Fraction(tolerance) * abs(exact)


def right_answer(question: dict[str, Any], values: dict[str, Any]) -> float:
    """The right number for drawn parameters, in the question's base unit."""
    module, _, name = question["formula"].rpartition(".")
    answer: float = getattr(importlib.import_module(module), name)(**values)
    return answer


def slip(mistake: str, answer: float, values: dict[str, Any]) -> float | None:
    """The number that a listed mistake gives, or None where it does not apply."""
    from reference.mistakes import counting

    result: float | None = getattr(counting, mistake.replace("-", "_"))(answer, values)
    return result


def grade(question: dict[str, Any], text: str, seed: int, mistakes: dict[str, Any]) -> Report:
    """Grade one number. `mistakes` holds the texts of named mistakes by id."""
    values = draw.parameters(question, seed)
    answer = right_answer(question, values)
    unit, tolerance = question["unit"], question["tolerance"]
    asks = fill(question["asks"], values)

    def report(
        verdict: Verdict,
        summary: str,
        message: str = "",
        named: tuple[NamedMistake, ...] = (),
        notes: tuple[str, ...] = (),
    ) -> Report:
        return Report(
            question=question["id"],
            kind="compute",
            verdict=verdict,
            score=1.0 if verdict == "passed" else 0.0,
            seed=seed,
            summary=summary,
            parts=(Part(PART, verdict, message, asks, shown(text, 80)),),
            mistakes=named,
            notes=notes,
            revision=question.get("revision", 1),
        )

    try:
        typed = read_quantity(text, unit)
    except Unreadable as error:
        return report("invalid", str(error), str(error))
    right = units.show_value(answer, unit)
    working = fill(question["working"], {**values, "answer": right}).rstrip()
    if "{answer}" not in question["working"]:
        working += f" = {right}"
    notes = (typed.unit.note,) if typed.unit.note else ()
    if _fits(typed.value, answer, tolerance):
        return report("passed", "Right.", working, notes=notes)
    if typed.sister is not None and _fits(typed.sister, answer, tolerance):
        return report("passed", "Right.", working, notes=(*notes, _sister_note(typed, right)))
    found = _named(question, typed, answer, values)
    summary = _how_far(typed.value, answer, unit, tolerance)
    if len(found) > 1 and not found[0][1]:
        summary += " More than one slip gives this number here: see which was yours."
    texts = {**values, "answer": right}
    named = tuple(_words(m, mistakes, texts) for m, _ in found)
    return report("wrong_answer", summary, working, named, notes)


def _sister_note(typed: Quantity, right: str) -> str:
    unit = typed.unit
    if unit.name.endswith("tokens"):
        return f"The number is right with k = 1024; written with k = 1000 it would not be: {right}."
    letter = unit.name[0].upper()
    power = "KMGTP".index(letter) + 1
    small, large = f"1 {letter if letter != 'K' else 'k'}B is 10^{3 * power}", f"{letter}iB"
    return (
        f"The number fits {unit.sister_name}, not {unit.name}: {small} bytes, 1 {large} is"
        f" 2^{10 * power} bytes. In full: {right}."
    )


def _how_far(value: Fraction, answer: float, unit: str, tolerance: float) -> str:
    """One sentence on how the number differs from the right one; facts only."""
    if value <= 0:
        return "The number must be positive."
    if not answer:
        return "That is not it."
    ratio = float(value / Fraction(answer))
    if unit == "none" and answer < 1 and _fits(value, 100 * answer, tolerance):
        return "That is the number of percent: write it with its % sign, or as a share of one."
    for factor in (ratio, 1 / ratio if ratio else 0.0):
        whole = round(factor)
        if 2 <= whole <= 4096 and abs(factor - whole) <= 0.01 * whole:
            if factor == ratio:
                return "Twice the right value." if whole == 2 else f"{whole:,} times too large."
            return "Half of the right value." if whole == 2 else f"{whole:,} times too small."
    if 0.5 < ratio < 1.5:
        percent = units.significant(abs(ratio - 1) * 100, 2)
        return f"{percent}% too {'large' if ratio > 1 else 'small'}."
    if ratio > 1:
        return f"{units.significant(ratio, 2)} times too large."
    return f"{units.significant(1 / ratio, 2)} times too small."


def _named(
    question: dict[str, Any], typed: Quantity, answer: float, values: dict[str, Any]
) -> list[tuple[str, bool]]:
    """(mistake, made together with another), for the slips whose number this is.

    One slip is named alone; a few that give the same number are all returned, for the learner to
    tell; two slips at once only where no single one and no other two give the number. The unit is
    taken at its word first, and as its namesake (GB for GiB) only if nothing matches.
    """
    tolerance = question["tolerance"]
    wrong: dict[str, float] = {}
    for mistake in question["mistakes"]:
        number = slip(mistake, answer, values)
        if number is not None and not _fits(Fraction(number), answer, tolerance):
            wrong[mistake] = number
    for value in (typed.value, typed.sister):
        if value is None:
            continue
        single = [m for m, number in wrong.items() if _fits(value, number, tolerance)]
        if single:
            return [(m, False) for m in single] if len(single) <= _EITHER else []
    pairs = []
    for first, second in combinations(wrong, 2):
        number = slip(second, wrong[first], values)
        if (
            number is not None
            and not _fits(Fraction(number), answer, tolerance)
            and _fits(typed.value, number, min(tolerance, _TOGETHER))
            # One slip that inflates and one that deflates give nearly any number.
            and (wrong[first] > answer) == (wrong[second] > answer)
        ):
            pairs.append((first, second))
    return [(m, True) for m in pairs[0]] if len(pairs) == 1 else []


def _words(mistake: str, texts: dict[str, Any], values: dict[str, Any]) -> NamedMistake:
    text = texts.get(mistake, {})
    title = text.get("title") or mistake.replace("-", " ")
    return NamedMistake(
        mistake,
        fill(title, values),
        fill(text.get("explanation") or "", values),
        fill(text.get("hint") or "", values),
    )
