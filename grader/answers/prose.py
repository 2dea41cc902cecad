"""Prose made comparable: one form for each term, sentences, and what a negation reaches.

Patterns of the bank are searched in one sentence at a time, over text in lower case in which the
notations of a root, of d_k and of multiplication are one. A match that a negation, a condition or
a disclaimer may turn round is `doubtful`: it neither counts for the writer nor against.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Iterator
from functools import cache
from typing import Any, Literal

from grader.answers.reading import visible

LIMIT = 8_000
_STARTS = 12
_SENTENCE = 1_000  # patterns are searched in no longer piece, which bounds their time

_ABBREVIATION = re.compile(
    r"\b(e\.g|i\.e|etc|vs|cf|approx|resp|incl|fig|eq|sec|al)\.(?=(?-i:\s+[^A-Z\s]|,|\s+\())", re.I
)
_LIST_NUMBER = re.compile(r"((?:^|\n)\s*\d+)\.(?=\s)")
_INITIALS = re.compile(r"\b(e\.g|i\.e)\.", re.I)
_END = re.compile(r"(?<=[.!?…])[\"')\]]*\s+|\n\s*\n|\n(?=\s*(?:[-*•]|\d+[.)\0])\s)")
_ROOT_OF = r"(?:the )?(?:square )?root of (?:the )?"
_TERMS: tuple[tuple[str, str], ...] = (
    (r"[‘’`´]", "'"),
    (r"[“”]", '"'),
    (r"[‐‑‒−]", "-"),
    (r"[–—]", ", "),
    (r"\$|\\(?:left|right)(?![a-z])|\\[()\[\],;!]", " "),
    (r"\\(?:text|mathrm|mathbf|operatorname)\s*\{([^{}]*)\}", r"\1"),
    (r"_\s*\{([^{}]*)\}", r"_\1"),
    (r"\\?sqrt\s*\{([^{}]*)\}", r"sqrt(\1)"),
    (r"\\frac\s*\{([^{}]*)\}\s*\{([^{}]*)\}", r"(\1)/(\2)"),
    (r"ₖ", "_k"),
    (r"\\(?:times|cdot)(?![a-z])|[×·⋅∙]", "*"),
    (
        r"\bd(?:_?model|\s+model)\b|\bd_m\b|\bmodel[_ ]dim(?:ension)?\b|\bhidden[_ ]size\b",
        "d_model",
    ),
    (r"\bd(?:_?k)\b|\bd_?head\b|\bhead_?dim\b|\bd_?h\b", "d_k"),
    (r"√\s*\(\s*([a-z_]+)\s*\)|√\s*([a-z_]+)", r"sqrt(\1\2)"),
    (
        r"\b(?:math\.|np\.|torch\.)?sqrt\s*\(\s*([a-z_]+)\s*\)|\bsqrt(?: of)?\s+([a-z_]+)",
        r"sqrt(\1\2)",
    ),
    (_ROOT_OF + r"(d_k|d_model)\b", r"sqrt(\1)"),
    (r"\b(d_k|d_model)\s*(?:\^|\*\*)\s*(?:0?\.5|\(?1/2\)?|\{1/2\})", r"sqrt(\1)"),
    (r"\bsoft-max\b", "softmax"),
    (r"\bmulti head\b", "multi-head"),
    (r"\b(can|could|do|does|did|is|are|was|would|will|has|have|should)n't\b", r"\1 not"),
    (r"\bcannot\b", "can not"),
    (r"\bwon't\b", "will not"),
    (r"[*_]{2}(?=[a-z])|(?<=[a-z])\*\*(?=[\s.,;])", ""),
)
_NEGATION = (
    r"\b(?:not|never|no|none|nor|neither|nothing|nobody|nowhere|without|hardly|rarely|seldom"
    r"|rather than|instead of|unlike|fails? to|far from|anything but|as if)\b"
)
_CONDITION = r"\b(?:if|unless|were it|had it|suppose|without|imagine|would|could)\b"
_DISCLAIMER = (
    r"\b(?:(?:is|be|are) (?:simply |just )?(?:false|wrong|incorrect)|(?:false|wrong) (?:that|to)"
    r"|untrue|myth|misconception|mistake|mistaken|fallacy|not true|not the case|nonsense"
    r"|disagree\w*|doubt\w*|den(?:y|ies|ied)|disputed?|supposed(?:ly)?|allegedly|so-called|pretend\w*"
    r"|not convinced|nobody|no one|as if)\b|\?[\"')\]]*$"
)
# A statement that takes the one before it back.
_RETRACTION = re.compile(
    r"^(?:(?:but|and|well|oh),? )?(?:(?:this|that|it|which)(?:'s| is| was) (?:\w+ )?(?:wrong|false"
    r"|untrue|incorrect|nonsense|a myth|not (?:so|true|right|the case))|(?:no|wrong|false|nonsense"
    r"|not so|not true|not really|just kidding)\b|(?:in|the) (?:truth|reality)\b)"
)
# Words that hold a sentence together; a list of key words has hardly any.
_GLUE = re.compile(
    r"\b(?:a|an|the|is|are|was|were|be|been|has|have|had|do|does|did|will|would|can|could|should|may"
    r"|must|of|to|in|on|at|by|for|from|with|as|and|or|but|so|because|since|that|which|this|these"
    r"|those|it|its|they|their|them|we|our|you|your|each|every|all|any|per|when|where|if|than|then|into"
    r"|becomes?|gets?|makes?|keeps?|means?|gives?|brings?|grows?|saturates?|vanish(?:es)?|shrinks?"
    r"|changes?|stays?|shares?|loses?|adds?|rises?|uses?|needs?|takes?|reads|holds)\b|[=≈→:*]|->"
)
_LIST_WORDS = 9  # from this many words on, a statement is measured for its glue
_LIST_SHARE = 0.17
_DENIED_AFTER = (
    r"[\w' ]{0,15}\b(?:is|are|was|were|does|do|did|will|would|can|has|have) (?:not|never|no)\b"
)
# Where one thought ends and a negation stops: not at a plain "and", which carries it on.
_CLAUSE = re.compile(
    r"[,;:()]|\b(?:but|because|since|so that|so|while|whereas|therefore|hence|which|instead)\b"
)

Finding = Literal["made", "doubtful", "absent"]


def normalise(text: str) -> str:
    """One form for each term. Raises Unreadable for control characters and over-long text."""
    # The order matters: brackets of roots are found after subscripts have lost theirs.
    text = visible(text, LIMIT)
    text = re.sub(r"[^\S\n]+", " ", text).lower()
    for pattern, form in _TERMS:
        text = _compiled(pattern).sub(form, text)
    return text


def sentences(text: str) -> list[str]:
    """The sentences of `text` as written: not split at `e.g.`, decimals or list numbers."""
    text = _LIST_NUMBER.sub(lambda m: f"{m[1]}\0", text.strip())
    text = _INITIALS.sub(lambda m: m[1].replace(".", "\0") + "\0", text)
    text = _ABBREVIATION.sub(lambda m: m[1] + "\0", text)
    pieces = (piece.replace("\0", ".").strip() for piece in _END.split(text))
    return [piece for piece in pieces if re.search(r"[^\W_]", piece)]


def statements(text: str) -> list[str]:
    """Normalised sentences, apart at semicolons as well: the span that a pattern is searched in."""
    found: list[str] = []
    for sentence in sentences(visible(text, LIMIT)):
        for piece in normalise(sentence).split(";"):
            piece = " ".join(piece.split())
            found += [piece[i : i + _SENTENCE] for i in range(0, len(piece), _SENTENCE)]
    return [piece for piece in found if piece]


_EQUATION = re.compile(
    r"[=≈∝∑Σ√]|\\(?:frac|sqrt|sum|softmax)|\bsqrt\b|\^|softmax\s*\(|exp\s*\(|q\s*@?\s*k\s*(?:\^|')?\s*t\b|qkᵀ|kᵀ",
    re.I,
)


def has_equation(text: str) -> bool:
    """Whether `text` holds a formula rather than words only."""
    return _EQUATION.search(text) is not None


def taken_back(said: list[str]) -> set[int]:
    """The statements that the next one takes back: `that is wrong`."""
    return {i for i, follower in enumerate(said[1:]) if _RETRACTION.search(follower)}


def listed(said: list[str]) -> set[int]:
    """The statements that are key words in a row rather than sentences, and so make no point."""
    found = set()
    for i, statement in enumerate(said):
        words = len(re.findall(r"[^\W\d_][\w'-]*", statement))
        glue = len(_GLUE.findall(statement))
        if not glue or (words >= _LIST_WORDS and glue < _LIST_SHARE * words):
            found.add(i)
    return found


def holding(point: dict[str, Any], said: list[str]) -> set[int]:
    """The statements in which a point's `unless` is found: there none of its patterns decides."""
    patterns = point.get("unless", ())
    return {i for i, one in enumerate(said) if any(_compiled(p).search(one) for p in patterns)}


def finding(
    patterns: Iterable[str],
    said: list[str],
    unless: Iterable[str] = (),
    conditions: bool = False,
    doubted: Container[int] = (),
) -> Finding:
    """Whether any pattern is found in one of the statements, beyond doubt or not.

    `unless` patterns cancel every match in their statement; in the statements whose numbers are
    `doubted` none is certain. With `conditions` a match that stands under an `if` or `without` is
    doubtful too: "if scores grow, the softmax saturates" makes a point, but "if one divided by
    d_model" claims nothing.
    """
    doubtful = False
    for i, statement in enumerate(said):
        if any(_compiled(p).search(statement) for p in unless):
            continue
        for pattern in patterns:
            for match in _matches(pattern, statement):
                if i not in doubted and not _turned(pattern, statement, match, conditions):
                    return "made"
                doubtful = True
    return "doubtful" if doubtful else "absent"


def _matches(pattern: str, statement: str) -> Iterator[re.Match[str]]:
    """The matches from each place where one starts: one that begins late may pass by a negation
    that an earlier one holds."""
    at = 0
    for _ in range(_STARTS):
        match = _compiled(pattern).search(statement, at)
        if match is None:
            return
        yield match
        at = match.start() + 1


def _turned(pattern: str, statement: str, match: re.Match[str], conditions: bool) -> bool:
    """Whether something in the statement may turn the match into its opposite."""
    before = statement[: match.start()]
    # A pattern that names a negation has its own in view; others may hold none at all.
    words = pattern.replace(r"\b", " ")  # the b of \bnot is no letter
    own = _compiled(r"\b(?:not|never|no|nothing|without|nor|unless|if)\b").search(words)
    inside = "" if own else match[0]
    clause = _CLAUSE.split(before)[-1]
    return bool(
        _compiled(_NEGATION).search(f"{clause}{inside}")
        or _compiled(_DENIED_AFTER).match(statement, match.end())
        or (conditions and _compiled(_CONDITION).search(before + inside))
        or _compiled(_DISCLAIMER).search(statement)
    )


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)
