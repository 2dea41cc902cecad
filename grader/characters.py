"""Which characters of someone else's text can be seen."""

from __future__ import annotations

# Printable to Python, and blank on a screen: fillers of Hangul and Khmer, an empty Braille cell.
BLANK = frozenset("\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0")
SPACES = frozenset("\u00a0\u202f\u3000")  # wide or narrow, and seen as the gap that they are


def is_shown(character: str) -> bool:
    """False for controls, marks of direction, tags, lone surrogates, and what is blank."""
    return (character.isprintable() and character not in BLANK) or character in SPACES
