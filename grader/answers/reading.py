"""What every kind of answer needs first: typed text made plain, and one error type."""

from __future__ import annotations

import re
import unicodedata

LIMIT = 20_000  # characters of a whole answer: the largest honest ones are printed matrices


class Unreadable(ValueError):
    """The answer cannot be read. The message is one sentence for the learner, with the remedy."""


_SUPERSCRIPT = "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁽⁾ⁱⁿ"
_SUBSCRIPT = "₀₁₂₃₄₅₆₇₈₉ₐₑₕᵢⱼₖₗₘₙₒₚᵣₛₜᵤᵥₓ"
_RAISED = str.maketrans(_SUPERSCRIPT, "0123456789+-()in")
_LOWERED = str.maketrans(_SUBSCRIPT, "0123456789aehijklmnoprstuvx")
FRACTIONS = {"½": "1/2", "⅓": "1/3", "⅔": "2/3", "¼": "1/4", "¾": "3/4", "⅛": "1/8", "⅜": "3/8"}
FRACTIONS |= {"⅝": "5/8", "⅞": "7/8", "⅙": "1/6", "⅚": "5/6", "⅕": "1/5", "⅖": "2/5", "⅗": "3/5"}
_DASHES = re.compile("[‐‑‒–—―−﹣－]")
_UP = re.compile(f"[{_SUPERSCRIPT}]+")
_DOWN = re.compile(f"[{_SUBSCRIPT}]+")


def visible(text: str, limit: int = LIMIT) -> str:
    """`text` without invisible format characters, its line ends as newlines.

    Raises Unreadable for text that is too long, or that holds control characters.
    """
    if len(text) > limit:
        raise Unreadable(
            f"The answer has {len(text):,} characters; up to {limit:,} are read: shorten it."
        )
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    kept = []
    for char in text:
        category = unicodedata.category(char) if ord(char) > 126 or ord(char) < 32 else ""
        if category == "Cf":
            continue
        if category in ("Cc", "Cs", "Co", "Cn") and char not in "\n\t":
            raise Unreadable("The answer holds a control character: type it again as plain text.")
        kept.append(char)
    return "".join(kept)


def plain(text: str, limit: int = LIMIT) -> str:
    """Typed mathematics in plain characters.

    Superscripts become `^(...)`, subscripts `_...`, every dash a minus, every space a space,
    full-width characters their usual forms. Raises Unreadable as `visible` does.
    """
    text = visible(text, limit)
    for sign, fraction in FRACTIONS.items():
        text = text.replace(sign, f" {fraction}")
    text = _UP.sub(lambda m: f"^({m[0].translate(_RAISED)})", text)
    text = _DOWN.sub(lambda m: f"_{m[0].translate(_LOWERED)}", text)
    text = _DASHES.sub("-", unicodedata.normalize("NFKC", text))
    text = text.replace("⁄", "/").replace("∕", "/").replace("÷", "/").replace("∗", "*")
    return re.sub(r"[^\S\n]", " ", text)


def shown(text: str, limit: int = 40) -> str:
    """A short, harmless form of what was typed, for a message."""
    text = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    return text if len(text) <= limit else text[: limit - 1] + "…"
