"""A number with a unit, for the parameters that the seed gave. Serving calls this: it imports the
standard library and pure-Python parts of `reference` only."""

from __future__ import annotations

import importlib
from fractions import Fraction
from itertools import combinations
from typing import Any

from grader.answers import draw, units
from grader.answers.quantity import Quantity, fits, read_quantity
from grader.answers.reading import Unreadable, shown
from grader.report import NamedMistake, Part, Report, Verdict
from questions.text import fill

PART = "answer"
_FAR = 6  # powers of ten: what is further off is not told in full
_TOGETHER = 0.005  # two slips at once are named on closer evidence than one
_EITHER = 3  # up to so many slips that give one number are told, and none of them named
_COUNTED_BY = {  # the parameters that say how many of a thing are asked for together
    "layer": ("layers",),
    "token": ("tokens", "seq_len"),
    "position": ("tokens", "seq_len"),
    "head": ("n_kv_heads", "n_heads"),
    "sequence": ("batch",),
    "user": ("batch",),
    "request": ("batch",),
}


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
        _refuse_scopes(typed.scopes, values)
    except Unreadable as error:
        return report("invalid", str(error), str(error))
    right = units.show_value(answer, unit)
    working = fill(question["working"], {**values, "answer": right}).rstrip()
    if "{answer}" not in question["working"]:
        working += f" = {right}"
    notes = (typed.unit.note,) if typed.unit.note else ()
    if fits(typed.value, answer, tolerance):
        return report("passed", "Right.", working, notes=notes)
    if typed.sister is not None and fits(typed.sister, answer, tolerance):
        return report("passed", "Right.", working, notes=(*notes, _sister_note(typed, right)))
    if typed.bits is not None and fits(typed.bits, answer, tolerance):
        note = f"Read as {typed.unit.name[:-1]}bit, which is what a small b says. In full: {right}."
        return report("passed", "Right.", working, notes=(note,))
    found, certain = _named(question, typed, answer, values)
    summary = _how_far(typed.value, answer, unit, tolerance)
    words = [_words(mistake, mistakes, {**values, "answer": right}) for mistake in found]
    if words and not certain:
        titles = "; ".join(word.title for word in words)
        summary += f" More than one slip gives this number here: {titles}."
    return report("wrong_answer", summary, working, tuple(words) if certain else (), notes)


def _refuse_scopes(scopes: tuple[str, ...], values: dict[str, Any]) -> None:
    """Raises Unreadable for a number that is said to be of one layer where all are asked for."""
    for scope in scopes:
        for parameter in _COUNTED_BY.get(scope, ()):
            if values.get(parameter, 1) != 1:
                raise Unreadable(
                    f"This asks for all {values[parameter]:,} {scope}s together: write the number"
                    f" for all of them, without “per {scope}”."
                )


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
    exact = value / Fraction(answer)
    if not 10**-_FAR < exact < 10**_FAR:
        return f"More than a million times too {'large' if exact > 1 else 'small'}."
    ratio = float(exact)
    if unit == "none" and answer < 1 and fits(value, 100 * answer, tolerance):
        return "That is the number of percent: write it with its % sign, or as a share of one."
    for factor in (ratio, 1 / ratio):
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
) -> tuple[list[str], bool]:
    """The slips whose number this is, and whether the number leaves no other explanation.

    A few that give the same number are returned for the learner to tell, and are not certain.
    Two slips made at once count only where no single one and no other two give the number. The
    unit is taken at its word first, and as its namesake (GB for GiB) only if nothing matches.
    """
    tolerance = question["tolerance"]
    wrong: dict[str, float] = {}
    for mistake in question["mistakes"]:
        number = slip(mistake, answer, values)
        if number is not None and not fits(Fraction(number), answer, tolerance):
            wrong[mistake] = number
    for value in (typed.value, typed.sister):
        if value is None:
            continue
        single = [m for m, number in wrong.items() if fits(value, number, tolerance)]
        if single:
            return (single if len(single) <= _EITHER else []), len(single) == 1
    pairs = []
    for first, second in combinations(wrong, 2):
        number = slip(second, wrong[first], values)
        if (
            number is not None
            and not fits(Fraction(number), answer, tolerance)
            and fits(typed.value, number, min(tolerance, _TOGETHER))
            # One slip that inflates and one that deflates give nearly any number.
            and (wrong[first] > answer) == (wrong[second] > answer)
        ):
            pairs.append([first, second])
    return (pairs[0], True) if len(pairs) == 1 else ([], False)


def _words(mistake: str, texts: dict[str, Any], values: dict[str, Any]) -> NamedMistake:
    text = texts.get(mistake, {})
    title = text.get("title") or mistake.replace("-", " ")
    return NamedMistake(
        mistake,
        fill(title, values),
        fill(text.get("explanation") or "", values),
        fill(text.get("hint") or "", values),
    )
