"""A number with its unit, out of an answer as it was typed: sums, sentences and all."""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction

from grader.answers import numbers, phrases, units
from grader.answers.reading import Unreadable, shown

_AGREE = 0.01
_FACTORS = 20  # pieces of a product such as `2 * 32 layers * 8 heads`
_OPERATOR = re.compile(
    r"(?P<unit>(?:\([A-Za-z ]*\)|[^\d()*×·⋅∙])*?)"
    r" *(?:[*×·⋅∙]|(?<![A-Za-z])[xX](?![A-Za-z])|(?P<over>/)) *(?=[\d(√.]|sqrt)(?P<right>.*)"
)
_COUNTED = re.compile(
    r"(?: *\([A-Za-z ]*\))? *(?:(?:kv|query|attention|key/value|cached)[ -]*)?"
    r"(?:layers?|heads?|tokens?|sequences?|users?|requests?|elements?|positions?|batch|wide|k and v"
    r"|numbers?|scores?|dims?|dimensions?)?(?: *\([A-Za-z ]*\))?",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Quantity:
    """A typed number in base units.

    `sister` and `bits` are its values as the unit's namesake (GiB for GB) and with a small b for
    bits; `scopes` the things that it is said to be counted for (`layer` for `per layer`).
    """

    value: Fraction
    unit: units.Unit
    sister: Fraction | None = None
    bits: Fraction | None = None
    scopes: tuple[str, ...] = ()


def read_quantity(text: str, unit: str) -> Quantity:
    """The number and unit of an answer such as `2*36*8 = 4.83 GB (4.5 GiB)`.

    `unit` is the question's base unit. Raises Unreadable with one sentence.
    """
    return _quantity(_prepared(text, unit), unit)


def fits(value: Fraction, target: float | Fraction, tolerance: float) -> bool:
    """Whether `value` is within the relative `tolerance` of `target`, exactly computed."""
    exact = Fraction(target)
    return abs(value - exact) <= Fraction(tolerance) * abs(exact)


def _prepared(text: str, unit: str) -> str:
    source = phrases.core(numbers.prepared(text))
    phrases.refuse_comparison(source)
    source = phrases.without_definition(source)
    source = phrases.core(numbers.last_of_chain(source))
    source = phrases.from_number(source, unit == "token").rstrip(".!?, ")
    phrases.refuse_range(source)
    return source


def _quantity(text: str, unit: str) -> Quantity:
    example = units.QUANTITIES[unit][1]
    value, rest = numbers.read(text, example=example)
    factors = 1
    kept = ""  # the one unit that a product names
    while match := _OPERATOR.fullmatch(rest):
        factors += 1
        right, after = numbers.read(match["right"], factor=True, example=example)
        named = match["unit"].strip()
        if match["over"] and _measures(named, unit) and _measures(after, unit) and after:
            break  # 17.2 GB / 16 GiB: the same, twice
        if not _COUNTED.fullmatch(named):
            if kept:
                raise Unreadable(f"“{shown(text)}” holds two units: write the result with one.")
            kept = named
        if match["over"] and right == 0:
            raise Unreadable("The answer divides by zero: check the sum.")
        value = numbers.bounded(value / right if match["over"] else value * right)
        rest = after
        if factors > _FACTORS:
            raise Unreadable("The sum is too long to read: write the number itself.")
    if kept and _COUNTED.fullmatch(rest):
        rest = kept
    elif kept:
        raise Unreadable(f"“{shown(text)}” holds two units: write the result with one.")
    named, other = phrases.alternatives(rest)
    if other and not named and not re.search(r"\d", other) and _measures(other, unit):
        named, other = other, ""
    read, scopes = _unit(named, unit)
    if factors > 1:  # 128 KiB per token * 131072 tokens
        scopes = ()
    quantity = Quantity(
        value * read.factor,
        read,
        None if read.sister is None else value * read.sister,
        None if read.bits is None else value * read.bits,
        scopes,
    )
    _check_other(text, other, quantity, unit)
    return quantity


def _check_other(text: str, other: str, quantity: Quantity, unit: str) -> None:
    """What is said after the quantity must be the same once more, or change nothing."""
    if phrases.is_filler(other):
        return
    other = phrases.from_number(other)
    if not re.match(r"[-+(√.]?\d|[(√]", other):
        raise Unreadable(f"“{shown(other)}” is not read here: write the number and its unit alone.")
    again = _quantity(phrases.from_number(numbers.last_of_chain(other)), unit)
    if not fits(again.value, quantity.value, _AGREE):
        raise Unreadable(
            f"“{shown(text)}” gives two different values: write the one that you mean."
        )


def _measures(text: str, unit: str) -> bool:
    try:
        return bool(text) and bool(_unit(text, unit))
    except Unreadable:
        return False


def _unit(text: str, unit: str) -> tuple[units.Unit, tuple[str, ...]]:
    """The unit that `text` begins with; its other words must say no more than a scope."""
    scopes: list[str] = []
    rest = text
    refused: Unreadable | None = None
    while True:
        try:
            return units.read_unit(rest, unit), tuple(scopes)
        except Unreadable as error:
            refused = refused or error  # the first names the learner's own words
        found = phrases.shorter(rest)
        if found is None or found[0] == rest:
            raise refused
        rest = found[0]
        scopes += [found[1]] if found[1] else []
