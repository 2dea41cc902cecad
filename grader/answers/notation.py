"""Typed mathematics in one notation: LaTeX, greek letters and remarks made plain.

What is left is for `expressions` to read: names, numbers, `+ - * / ^`, brackets and `frac`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from grader.answers.reading import FRACTIONS, plain

_GREEK_NAMES = (
    "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi omicron pi rho"
    " sigma sigma tau upsilon phi chi psi omega"
)
_GREEK = dict(zip("αβγδεζηθικλμνξοπρςστυφχψω", _GREEK_NAMES.split(), strict=True))
_LATEX = (
    # TeX takes one character for an argument without braces: \frac12, \frac hg, \frac1{g}.
    (re.compile(r"\\[dt]?frac *(\d|(?<= )[A-Za-z]) *([\dA-Za-z])(?![\w{])"), r"\\frac{\1}{\2}"),
    (re.compile(r"\\[dt]?frac *(\d|(?<= )[A-Za-z]) *(?=\{)"), r"\\frac{\1}"),
    (re.compile(r"(\\[dt]?frac *\{[^{}]*\}) *([\dA-Za-z])(?![\w{])"), r"\1{\2}"),
    (re.compile(r"\\[dt]?frac(?![A-Za-z])"), " frac "),
    (re.compile(r"\\(?:times|cdot|ast)(?![A-Za-z])"), "*"),
    (re.compile(r"\\(?:Rightarrow|rightarrow|implies|to)(?![A-Za-z])|[-=]>|[→⇒⟹]"), "="),
    (re.compile(r"\\(?:approx|simeq|sim)(?![A-Za-z])"), "≈"),
    (re.compile(r"(\\sqrt) *\[2\]"), r"\1"),
    (re.compile(r"\\_"), "_"),
    (re.compile(r"\\(?:left|right|displaystyle|big|Big|quad|qquad)(?![A-Za-z])"), " "),
    (re.compile(r"\\(?:text|mathrm|mathit|operatorname|rm)\s*\{([^{}]*)\}"), r"\1"),
    (re.compile(r"\\[()\[\],;:! ]|\$"), " "),
    (re.compile(r"\\([{}])"), r"\1"),
    (re.compile(r"\\(sqrt|exp|log|ln|max|min)(?![A-Za-z])"), r" \1"),
    (re.compile(r"\\(" + "|".join(sorted(set(_GREEK.values()))) + r")(?![A-Za-z])"), r" \1"),
)
_LIBRARY = re.compile(r"(?<![A-Za-z0-9_.])(?:math|np|numpy|torch|sp|sympy)\.(?=[a-z])")
_SUBSCRIPT = re.compile(r"_\s*\{\s*([A-Za-z0-9_]+)\s*\}")
_UNIT = re.compile(
    r"\s*[\[(]?(?<![A-Za-z_])(?:FLOPs?|flops?|bytes?)(?:\s*(?:/|per)\s*bytes?)?[\])]?\s*$"
)
_COMMENT = re.compile(r"\s*(?:#|//).*$")
_REMARK = re.compile(r"\s+\(\s*([A-Za-z]{2,}(?:[ -][A-Za-z]+)*)\s*\)\s*$")


def written_plainly(text: str, limit: int, names: Mapping[str, str]) -> str:
    """`text` without LaTeX, emphasis, and a unit or remark at its end; `names` are those known.

    Raises Unreadable for control characters and for more than `limit` characters.
    """
    if len(text) <= limit:
        for sign, fraction in FRACTIONS.items():
            text = text.replace(sign, f"({fraction})")
        limit = len(text)
    text = _unmarked(plain(text, limit))
    text = "".join(f" {_GREEK[c]} " if c in _GREEK else c for c in text)
    text = re.sub(r"([A-Za-z]) +_(?=[A-Za-z0-9{])", r"\1_", text)  # σ_q keeps its subscript
    # Twice, for \mathrm inside a subscript inside \text.
    for pattern, replacement in _LATEX + _LATEX:
        text = pattern.sub(replacement, text)
    text = _LIBRARY.sub("", _SUBSCRIPT.sub(r"_\1 ", text))
    text = _COMMENT.sub("", text).rstrip(" .;,")
    remark = _REMARK.search(text)
    if remark and not any(_is_of_names(word, names) for word in re.split("[ -]", remark[1])):
        text = text[: remark.start()]
    if not names.keys() & {"FLOP", "FLOPs", "byte", "bytes"}:
        text = _UNIT.sub("", text)
    return text


def last_of_chain(text: str) -> str:
    """What follows the last `=` outside brackets."""
    depth = start = 0
    for i, char in enumerate(text):
        if char in "([{":
            depth += 1
        elif char in ")]}":
            depth = max(0, depth - 1)
        elif char == "=" and not depth:
            start = i + 1
    return text[start:].strip().rstrip(".;,").strip()


def _unmarked(text: str) -> str:
    """Without the stars or backticks of Markdown around the whole."""
    text = text.strip()
    for mark in ("**", "`"):
        if text.startswith(mark) and text.endswith(mark) and len(text) > 2 * len(mark):
            text = text[len(mark) : -len(mark)].strip()
    return text


def _is_of_names(word: str, names: Mapping[str, str]) -> bool:
    return word in names or all(letter in names for letter in word)
