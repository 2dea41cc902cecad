"""Units, from a table of our own: bytes, FLOP, tokens, FLOP/byte and bare numbers.

`B` and `b` are both read as bytes (`Gb` with a note): nobody is failed for a capital, nor for
meaning gigabits by it (`bits`). Bits are `bit`, `Mbit`, `gigabits`. `k`, `M`, `G`, `T`, `P` are
powers of 1000 and `Ki`, `Mi`, ... powers of 1024; the factor that a sloppier writer may have
meant is kept beside, as `sister`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction

from grader.answers.reading import Unreadable, shown


@dataclass(frozen=True)
class Unit:
    """`factor` base units each; `sister` is the factor of the unit's namesake, if it has one.

    `bits` is the factor of `Gb` as gigabits. `name` and `sister_name` are for messages: GB, GiB.
    """

    factor: Fraction
    name: str = ""
    sister: Fraction | None = None
    bits: Fraction | None = None
    sister_name: str = ""
    note: str = ""


QUANTITIES = {
    "byte": ("bytes", "4.5 GiB"),
    "FLOP": ("FLOP", "1.2 GFLOP"),
    "token": ("tokens", "24,000 tokens"),
    "FLOP/byte": ("FLOP per byte", "8 FLOP/byte"),
    "none": ("a bare number", "8 or 1.2e9"),
}
_LETTERS = "kmgtp"
_WORDS = {"kilo": "k", "mega": "m", "giga": "g", "tera": "t", "peta": "p"}
_WORDS |= {"kibi": "ki", "mebi": "mi", "gibi": "gi", "tebi": "ti", "pebi": "pi"}
_WORDS |= {"gig": "g", "gigs": "g", "meg": "m", "megs": "m", "mio": "m", "mln": "m", "mil": "m"}
_WORDS |= {"thousand": "k", "million": "m", "mn": "m", "billion": "g", "bn": "g", "trillion": "t"}
_PREFIX = r"(?P<prefix>[kmgtp]i?|" + "|".join(_WORDS) + r")?[ -]?"
# Strings, of which an answer needs one or two: re compiles them when first used.
_BYTE = _PREFIX + r"(?P<base>b|bytes?|bs|bits?|o|octets?)?"
_FLOP = (
    _PREFIX + r"(?P<base>flops?|ops?|operations?|floating[- ]point operations?"
    r"|(?P<mac>macs?|fmas?|multiply-(?:adds?|accumulates?)))?"
)
_TOKEN = _PREFIX + r"(?P<base>tokens?|toks?|positions?)?"
_INTENSITY = (
    r"(?:(?:f(?=/)|flops?|(?:floating[- ]point )?(?:ops?|operations?)|(?P<mac>macs?|fmas?))[ ]*"
    r"(?:/|:|per|(?:for )?(?:each|every)|·|\*)[ ]*(?:1 )?(?:b|bytes?)(?:\^\(?-1\)?)?)?"
)
_NONE = (
    r"(?P<prefix>[kmgt]i|[kmgtb]|" + "|".join(_WORDS) + r")?[ ]*"
    r"(?P<base>params?|parameters?|weights?|elements?|numbers?|sequences?|requests?|users?)?"
)
_TIMES = r"(?:[x×]|times|-?[ ]*fold)?[ ]*(?:smaller|less|larger|more|as (?:small|large|much))?"


def read_unit(text: str, quantity: str) -> Unit:
    """The unit that `text` names, in base units of `quantity`; no text is the base unit.

    `quantity` is byte, FLOP, token, FLOP/byte or none. Raises Unreadable, with one sentence, for
    a unit of another quantity and for one that is not known.
    """
    bare = text.strip()
    unit = _READERS[quantity](bare)
    if unit is not None:
        return unit
    asked, example = QUANTITIES[quantity]
    if re.search(r"/ ?s(?:ec(?:ond)?s?)?$|per second$|flops/", bare, re.I) and quantity == "FLOP":
        raise Unreadable(f"“{shown(bare)}” is a rate: write a number of FLOP, such as {example}.")
    for other in ("byte", "FLOP", "token", "FLOP/byte"):
        if other != quantity and _READERS[other](bare) is not None:
            raise Unreadable(
                f"“{shown(bare)}” measures {QUANTITIES[other][0]}, and this asks for {asked}:"
                f" write, for example, {example}."
            )
    raise Unreadable(
        f"“{shown(bare)}” is not a unit known here: write {asked}, for example {example}."
    )


def _prefix(written: str | None) -> str:
    lower = (written or "").lower()
    return _WORDS.get(lower, lower)


def _factor(prefix: str) -> Fraction:
    if not prefix:
        return Fraction(1)
    power = _LETTERS.index(prefix[0]) + 1
    return Fraction(1024 if prefix.endswith("i") else 1000) ** power


def _name(prefix: str, base: str) -> str:
    letter = prefix[:1].upper() if prefix[1:] or prefix[:1] != "k" else "k"
    return f"{letter}{prefix[1:]}{base}"


def _byte(text: str) -> Unit | None:
    match = re.fullmatch(_BYTE, text, re.I)
    if match is None:
        return None
    prefix, base = _prefix(match["prefix"]), match["base"] or ""
    factor = _factor(prefix)
    if base.lower().startswith("bit"):
        return Unit(factor / 8, _name(prefix, "bit"))
    note = ""
    if prefix and base == "b":
        note = f"{shown(text)} is read as {_name(prefix, 'B')}: bytes have a capital B."
    if not prefix:
        return Unit(factor, "B", note=note)
    sister = prefix[0] if prefix.endswith("i") else prefix + "i"
    # Gb is the sign of gigabits; gb is written without a thought.
    bits = factor / 8 if base == "b" and text[0].isupper() else None
    return Unit(factor, _name(prefix, "B"), _factor(sister), bits, _name(sister, "B"), note)


def _flop(text: str) -> Unit | None:
    match = re.fullmatch(_FLOP, text, re.I)
    if match is None or _prefix(match["prefix"]).endswith("i"):
        return None
    prefix = _prefix(match["prefix"])
    if match["mac"]:
        note = "A multiply-add (MAC) counts as 2 FLOP here: your number was doubled."
        return Unit(2 * _factor(prefix), _name(prefix, "MAC"), note=note)
    return Unit(_factor(prefix), _name(prefix, "FLOP"))


def _token(text: str) -> Unit | None:
    match = re.fullmatch(_TOKEN, text, re.I)
    if match is None:
        return None
    prefix = _prefix(match["prefix"])
    name = f"{match['prefix'] or ''} tokens".strip()
    if prefix in ("k", "m"):  # context lengths are often named in powers of 1024: 128K
        sister = f"{prefix.upper()}i tokens"
        return Unit(_factor(prefix), name, _factor(prefix + "i"), sister_name=sister)
    return Unit(_factor(prefix), name)


def _intensity(text: str) -> Unit | None:
    match = re.fullmatch(_INTENSITY, text, re.I)
    if match is None:
        return None
    if match["mac"]:
        note = "A multiply-add (MAC) counts as 2 FLOP here: your number was doubled."
        return Unit(Fraction(2), "MAC/byte", note=note)
    return Unit(Fraction(1), "FLOP/byte")


def _none(text: str) -> Unit | None:
    if text in ("%", "percent", "per cent"):
        return Unit(Fraction(1, 100), "%")
    if re.fullmatch(_TIMES, text, re.I):
        return Unit(Fraction(1))
    match = re.fullmatch(_NONE, text, re.I)
    if match is None:
        return None
    prefix = _prefix(match["prefix"])
    return Unit(_factor("g" if prefix == "b" else prefix))


_READERS = {
    "byte": _byte,
    "FLOP": _flop,
    "token": _token,
    "FLOP/byte": _intensity,
    "none": _none,
}


def significant(value: float, digits: int = 3) -> str:
    """`value` with about `digits` significant digits and thousands apart: 4.83, 24,576, 0.0312."""
    if value == 0:
        return "0"
    if float(value).is_integer() and abs(value) < 1e6:
        return f"{value:,.0f}"
    if abs(value) >= 10 ** (digits - 1):
        return f"{value:,.0f}"
    text = f"{value:.{digits}g}"
    return text if "e" in text or "." not in text else text.rstrip("0").rstrip(".")


def show_value(value: float, quantity: str) -> str:
    """A right value for a learner, in two units where that helps: `4.83 GB (4.5 GiB)`."""
    base = QUANTITIES[quantity][0]
    if quantity == "none":
        if 0 < value < 1:
            return f"{significant(value, 4)} ({significant(100 * value, 4)}%)"
        return f"{value:,.0f}" if float(value).is_integer() else significant(value, 4)
    exact = f"{value:,.0f}" if float(value).is_integer() else significant(value, 4)
    if quantity in ("token", "FLOP/byte") or abs(value) < 1000:
        return f"{exact} {base}"
    steps = max(i for i in range(1, 6) if i == 1 or abs(value) >= 1000.0**i)
    letter = "kMGTP"[steps - 1]
    if quantity == "FLOP":
        return f"{exact} FLOP ({significant(value / 1000.0**steps)} {letter}FLOP)"
    steps_2 = max(i for i in range(0, 6) if i == 0 or abs(value) >= 1024.0**i)
    binary = "" if steps_2 == 0 else "KMGTP"[steps_2 - 1] + "i"
    return (
        f"{significant(value / 1000.0**steps)} {letter}B"
        f" ({significant(value / 1024.0**steps_2)} {binary}B)"
    )
