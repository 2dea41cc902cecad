"""A number as people write it, and small sums of numbers. Nothing typed is ever evaluated by
Python: an own reader walks the text and computes with bounded exact fractions."""

from __future__ import annotations

import math
import re
from fractions import Fraction

from grader.answers.reading import Unreadable, plain, shown

_BITS = 4096  # largest numerator or denominator; every honest answer fits 1e308
_DEPTH = 20
_GROUPED = re.compile(r"[1-9]\d{0,2}(?:([,_'’ ])\d{3})(?:\1\d{3})*(?!\d)(?:\.\d+)?")
_PLAIN = re.compile(r"\d+(?:\.\d*)?|\.\d+")
_EXPONENT = re.compile(r"[eE]([+-]?\d+)(?![A-Za-z0-9_])|[eE]([+-]?\d+)(?=[A-Za-z])")
_STARTS = re.compile(r"[ ]*(?:[\d(√]|\.\d|sqrt)")
_STARTS_SIGNED = re.compile(r"[ ]*(?:[-+][ ]*)?(?:[\d(√]|\.\d|sqrt)")
_LEADING = re.compile(
    r"^[ ]*(?:[~≈≃∼=:]|(?:about|approximately|approx\.?|around|roughly|circa|ca\.|nearly|exactly"
    r"|it is|it's|is)(?![A-Za-z]))[ ]*",
    re.IGNORECASE,
)
_NOT_FINITE = re.compile(r"^[ ]*[-+]?[ ]*(?:nan|inf|infinity|∞)(?![A-Za-z])", re.IGNORECASE)
_LATEX = (
    (re.compile(r"\\(?:times|cdot|ast)(?![A-Za-z])"), "*"),
    (re.compile(r"\\approx(?![A-Za-z])"), "≈"),
    (re.compile(r"\\(?:text|mathrm|operatorname)\{([^{}]*)\}"), r" \1"),
    (re.compile(r"\\[dt]?frac\{([^{}]*)\}\{([^{}]*)\}"), r"((\1)/(\2))"),
    (re.compile(r"\\(?:left|right|[,;:! ])"), " "),
    (re.compile(r"\\%"), "%"),
    (re.compile(r"\\sqrt(?![A-Za-z])"), "sqrt"),
)


def last_part(text: str) -> str:
    """Plain text of the last part of a chain of equalities, without words such as `about`."""
    text = plain(text, 500).replace("$", "").replace("\n", " ")
    for pattern, replacement in _LATEX:
        text = pattern.sub(replacement, text)
    text = text.replace("{", "(").replace("}", ")")
    text = re.split(r"=+|[≈≃≅≡→]", text.strip())[-1]
    while match := _LEADING.match(text):
        text = text[match.end() :]
    return text.strip().rstrip(".!").rstrip()


def read(text: str) -> tuple[Fraction, str]:
    """The number at the start of `text` (from `last_part`), and what follows it: the unit.

    Raises Unreadable with one sentence.
    """
    if not text:
        raise Unreadable("The answer is empty: write a number, such as 4.5 or 1.2e9.")
    if _NOT_FINITE.match(text):
        raise Unreadable(f"“{shown(text)}” is not a finite number: write one, such as 1.2e9.")
    reader = _Reader(text)
    value = reader.sum(0)
    return value, text[reader.at :].strip()


class _Reader:
    """Recursive descent over sums, products, powers and roots of numbers."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0

    def skip(self) -> None:
        while self.text.startswith(" ", self.at):
            self.at += 1

    def take(self, *operators: str, signed: bool = False) -> str:
        """Step over an operator that a number follows; the others belong to the unit."""
        start = self.at
        self.skip()
        follows = _STARTS_SIGNED if signed else _STARTS
        for operator in operators:
            end = self.at + len(operator)
            if self.text.startswith(operator, self.at) and follows.match(self.text, end):
                self.at = end
                return operator
        self.at = start
        return ""

    def sum(self, depth: int) -> Fraction:
        value = self.product(depth)
        while operator := self.take("+", "-"):
            right = self.product(depth)
            value = _bounded(value + right if operator == "+" else value - right)
        return value

    def product(self, depth: int) -> Fraction:
        value = self.signed(depth)
        # `**` is a power and never two signs: power() has taken it before this looks.
        while operator := self.take("*", "×", "·", "⋅", "∙", "x", "X", "/", ":", signed=True):
            right = self.signed(depth)
            if operator not in "/:":
                value = _bounded(value * right)
            elif right == 0:
                raise Unreadable("The answer divides by zero: check the sum.")
            else:
                value = _bounded(value / right)
        return value

    def signed(self, depth: int) -> Fraction:
        self.skip()
        sign = 1
        while self.text[self.at : self.at + 1] in ("-", "+"):
            sign = -sign if self.text[self.at] == "-" else sign
            self.at += 1
            self.skip()
        return sign * self.power(depth)

    def power(self, depth: int) -> Fraction:
        base = self.atom(depth)
        if not self.take("**", "^", signed=True):
            return base
        if depth > _DEPTH:
            raise Unreadable("The answer nests too deeply: write the number itself.")
        return _power(base, self.signed(depth + 1))

    def atom(self, depth: int) -> Fraction:
        if depth > _DEPTH:
            raise Unreadable("The answer nests too deeply: write the number itself.")
        self.skip()
        for root in ("sqrt", "√"):
            if self.text.startswith(root, self.at):
                self.at += len(root)
                return _power(self.atom(depth + 1), Fraction(1, 2))
        if self.text.startswith("(", self.at):
            self.at += 1
            value = self.sum(depth + 1)
            self.skip()
            if not self.text.startswith(")", self.at):
                raise Unreadable("A bracket is not closed: write, for example, 2 * (3 + 4).")
            self.at += 1
            return value
        return self.literal()

    def literal(self) -> Fraction:
        match = _GROUPED.match(self.text, self.at) or _PLAIN.match(self.text, self.at)
        if match is None:
            raise Unreadable(
                f"No number where one is expected, at “{shown(self.text[self.at :]) or 'the end'}”:"
                " write a number and its unit, such as 4.5 GiB or 1.2e9."
            )
        self.at = match.end()
        following = self.text[self.at : self.at + 2]
        if re.match(r"[,.]\d", following):
            typed = re.match(r"[\d.,]*", self.text[match.start() :])
            raise Unreadable(
                f"“{shown(typed[0] if typed else match[0])}” can be read in two ways: write the"
                " decimals after a point (1.5), and thousands in groups of three (1,500) or plain."
            )
        digits = re.sub(r"[,_'’ ]", "", match[0])
        exponent = 0
        if scale := _EXPONENT.match(self.text, self.at):
            self.at = scale.end()
            written = scale[1] or scale[2]
            exponent = int(written) if len(written) <= 4 else 9999
        if abs(exponent) > 308 or len(digits) > 310:
            raise Unreadable("The number is beyond anything asked for here: check its exponent.")
        return Fraction(digits.rstrip(".") or "0") * Fraction(10) ** exponent


def _power(base: Fraction, exponent: Fraction) -> Fraction:
    if base == 0 and exponent < 0:
        raise Unreadable("The answer divides by zero: check the sum.")
    if exponent.denominator == 1:
        bits = max(base.numerator.bit_length(), base.denominator.bit_length())
        if abs(exponent) * bits > _BITS and abs(base) != 1 and base != 0:
            raise Unreadable("The power is beyond anything asked for here: check its exponent.")
        return Fraction(base ** int(exponent % 2 if abs(base) == 1 else exponent))
    if base < 0:
        raise Unreadable("The root of a negative number is not a number: check the sign.")
    if exponent == Fraction(1, 2):
        top, bottom = math.isqrt(base.numerator), math.isqrt(base.denominator)
        if Fraction(top * top, bottom * bottom) == base:
            return Fraction(top, bottom)
    try:
        return _bounded(Fraction(float(base) ** float(exponent)))
    except (OverflowError, ValueError):
        raise Unreadable("The power is beyond anything asked for here: check it.") from None


def _bounded(value: Fraction) -> Fraction:
    if max(value.numerator.bit_length(), value.denominator.bit_length()) > _BITS:
        raise Unreadable("The sum is beyond anything asked for here: write the number itself.")
    return value
