"""A number as people write it, and small sums of numbers. Nothing typed is ever evaluated by
Python: an own reader walks the text and computes with bounded exact fractions."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from fractions import Fraction

from grader.answers.reading import Unreadable, plain, shown

_BITS = 4096  # largest numerator or denominator; every honest answer fits 1e308
_DEPTH = 20
_GROUPED = re.compile(r"[1-9]\d{0,2}(?:([,_'’ ])\d{3})(?:\1\d{3})*(?!\d)(?:\.\d+)?")
_PLAIN = re.compile(r"\d+(?:\.\d*)?|\.\d+")
_EXPONENT = re.compile(r" ?[eE]([+-]?\d+)(?![0-9_])")
_STARTS = re.compile(r"[ ]*(?:[\d(√]|\.\d|sqrt)")
_STARTS_SIGNED = re.compile(r"[ ]*(?:[-+][ ]*)?(?:[\d(√]|\.\d|sqrt)")
_ROUNDED: dict[str, Callable[[Fraction], int]] = {
    "ceil": math.ceil,
    "floor": math.floor,
    "round": round,
}
_SUM = re.compile(r"\([^()A-Za-z=]*\)")
_NOT_FINITE = re.compile(r"^[ ]*[-+]?[ ]*(?:nan|inf|infinity|∞)(?![A-Za-z])", re.IGNORECASE)
_LATEX = (
    (r"\\(?:times|cdot|ast)(?![A-Za-z])", "*"),
    (r"\\(?:approx|sim|simeq)(?![A-Za-z])", "≈"),
    (r"\\(?:Rightarrow|rightarrow|implies|to)(?![A-Za-z])", "→"),
    (r"\\geq?(?![A-Za-z])", "≥"),
    (r"\\(?:text|mathrm|operatorname)\{([^{}]*)\}", r" \1"),
    (r"\\[dt]?frac\{([^{}]*)\}\{([^{}]*)\}", r"((\1)/(\2))"),
    (r"\\(?:boxed|displaystyle|left|right|[,;:! ()\[\]])", " "),
    (r"\\%", "%"),
    (r"\\sqrt(?![A-Za-z])", "sqrt"),
)
_SIGNS = (("->", "→"), ("=>", "→"), ("⇒", "→"), ("⟹", "→"), (">=", "≥"), ("$", ""), ("\n", " "))
_LINKS = "=≈≃≅≡→"


def prepared(text: str) -> str:
    """Typed text on one line in plain characters, without LaTeX. Raises Unreadable."""
    text = plain(text, 500)
    for sign, replacement in _SIGNS:
        text = text.replace(sign, replacement)
    if "~" in text:  # TeX's space: 17.2~GB
        text = re.sub(r"(?<=[\d}])~(?=[A-Za-z\\])", " ", text)
    if "\\" in text:
        for pattern, replacement in _LATEX:
            text = re.sub(pattern, replacement, text)
    return text.replace("{", "(").replace("}", ")").strip()


def last_of_chain(text: str) -> str:
    """The last part of a chain of equalities: what follows the last `=`, `≈` or `→` that stands
    outside brackets."""
    text = text.rstrip(_LINKS + " ")
    depth = start = 0
    for i, char in enumerate(text):
        if char in "([":
            depth += 1
        elif char in ")]":
            depth = max(0, depth - 1)
        elif char in _LINKS and not depth:
            start = i + 1
    return text[start:].strip()


def read(text: str, factor: bool = False, example: str = "4.5 or 1.2e9") -> tuple[Fraction, str]:
    """The number at the start of `text`, and what follows it: the unit.

    The number may be a sum; with `factor` it ends before the next operator. Raises Unreadable
    with one sentence, which names `example` as an answer that can be read.
    """
    if not text:
        raise Unreadable(f"The answer is empty: write a number, such as {example}.")
    if _NOT_FINITE.match(text):
        raise Unreadable(f"“{shown(text)}” is not a finite number: write one, such as 1.2e9.")
    reader = _Reader(text, example)
    value = reader.signed(0) if factor else reader.sum(0)
    return value, text[reader.at :].strip()


class _Reader:
    """Recursive descent over sums, products, powers and roots of numbers."""

    def __init__(self, text: str, example: str) -> None:
        self.text = text
        self.example = example
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
            value = bounded(value + right if operator == "+" else value - right)
        return value

    def product(self, depth: int) -> Fraction:
        value = self.signed(depth)
        # `**` is a power and never two signs: power() has taken it before this looks.
        while True:
            operator = self.take("*", "×", "·", "⋅", "∙", "x", "X", "/", ":", signed=True)
            if not operator and not _SUM.match(self.text, self.at):  # 2(3 + 4)
                return value
            right = self.signed(depth)
            if operator not in ("/", ":"):
                value = bounded(value * right)
            elif right == 0:
                raise Unreadable("The answer divides by zero: check the sum.")
            else:
                value = bounded(value / right)

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
        for name, rounded in _ROUNDED.items():
            if self.text.startswith(f"{name}(", self.at):
                self.at += len(name)
                return Fraction(rounded(self.bracket(depth)))
        if self.text.startswith("(", self.at):
            return self.bracket(depth)
        return self.literal()

    def bracket(self, depth: int) -> Fraction:
        self.at += 1
        value = self.sum(depth + 1)
        self.skip()
        if not self.text.startswith(")", self.at):
            raise Unreadable("A bracket is not closed: write, for example, 2 * (3 + 4).")
        self.at += 1
        return value

    def literal(self) -> Fraction:
        match = _GROUPED.match(self.text, self.at) or _PLAIN.match(self.text, self.at)
        if match is None:
            raise Unreadable(
                f"No number where one is expected, at “{shown(self.text[self.at :]) or 'the end'}”:"
                f" write a number, such as {self.example}."
            )
        if re.match(r"0[xX][\da-fA-F]", self.text[self.at :]):
            raise Unreadable("A number in base 16 is not read here: write it in decimals.")
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
            exponent = int(scale[1]) if len(scale[1]) <= 4 else 9999
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
        return bounded(Fraction(float(base) ** float(exponent)))
    except (OverflowError, ValueError):
        raise Unreadable("The power is beyond anything asked for here: check it.") from None


def bounded(value: Fraction) -> Fraction:
    """`value`, if it is not absurdly long. Raises Unreadable."""
    if max(value.numerator.bit_length(), value.denominator.bit_length()) > _BITS:
        raise Unreadable("The sum is beyond anything asked for here: write the number itself.")
    return value
