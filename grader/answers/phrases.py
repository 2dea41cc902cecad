"""The words around a number: `The cache is about 4.83 GB in total` holds `4.83 GB`.

Only words that change nothing are passed over, from lists of our own. Others (`not`, `half`,
`less than`) stay where they are, and whoever reads the number then refuses the answer.
"""

from __future__ import annotations

import re

from grader.answers.reading import Unreadable

_MARKUP = " \t\n\"'`*_“”‘’«»"
_NUMBER = re.compile(r" *(?:[-+] *)*(?:[\d(√]|\.\d|(?:sqrt|ceil|floor|round)\b)")
_FILLING = (
    "a about all almost altogether an and answer approx approximately are around at attention be"
    " ca cache caches cached circa comes combined context costs equals exactly final find first"
    " full get gives guess hence i in intensity is it it's its just kv length long makes matrix"
    " memory nearly need needs now of or out over overall precisely result roughly say score"
    " scores should size slightly so some sum takes that the then therefore think this thus to"
    " token total uses we weights which will with would"
)
_FILLING_AFTER = (
    "base bf16 binary decimal fetched fp16 fp32 fp8 hbm int8 k loaded moved on onwards ram read"
    " reads storage together traffic used v vram whole written"
)
# A first count of tokens may be said as a bound: "from 24,577 tokens on", "more than 24,576".
_BOUNDING = "above after beyond from least more once than when"
_FILLER = frozenset(_FILLING.split())
_BOUND = frozenset(_BOUNDING.split())
_TAIL = _FILLER - {"token", "weights"} | frozenset(_FILLING_AFTER.split())
# Strings, which re compiles when first used: a plain answer needs few of them, and starts fast.
_THINGS = r"(?:kv |query |attention |decode |decoding |cached )?(?:key/value )?"
_ALL = (
    r"(?i)(?:^|[ ,]) *(?:(?:for|over|across|in|of|with|and|summed) )*"
    r"(?:all|every|the (?:whole|entire|full)) (?:of )?(?:the )?(?:\d{1,4} )?"
    + _THINGS
    + r"(?:layers?|sequences?|batch|users?|requests?|heads?|tokens?|projections?|matrices)$"
)
_SCOPE = (
    r"(?i) *(?:/|\bper\b|(?:\b(?:for|in|of|from) )?\b(?:each|a|one|every|1|a single)\b) *"
    + _THINGS
    + r"(?P<what>token|layer|sequence|head|position|step|batch|user|request|model|gpu)s?$"
)
_DEFINITION = (
    r"(?:[(\[] *|[ ,;(\[](?:where|with|using|taking|if|as|since|for) +|[,;] *(?=1))"
    r"1? *[kMGT]i?B *= *[^,;()\[\]]*[)\]]? *$"
)
_AGAIN = (
    r"(?i)(?P<unit>[^,;(\[]*?)(?: *[,;(\[]| +(?:or|i\.e\.|ie|aka|which is|that is|that's)(?= )"
    r"| *[-/] *(?=[\d.~≈]))(?P<other>.*)"
)
_LINK = r"(?i)^(?:or|i\.e\.|ie|aka|and|that is|that's|which is)(?= )[ ,]*"


def core(text: str) -> str:
    """`text` without quotes, emphasis, and brackets around the whole of it."""
    text = text.strip(_MARKUP)
    while len(text) > 2 and text[0] + text[-1] in ("()", "[]", "{}"):
        if re.search(r"[()\[\]{}]", text[1:-1]):
            break
        text = text[1:-1].strip(_MARKUP)
    return text


def without_definition(text: str) -> str:
    """`text` without a note at its end on what a unit is: `17 GB (1 GB = 10^9 bytes)`."""
    shorter = re.sub(_DEFINITION, "", text) if "=" in text else text
    return shorter if re.search(r"\d", shorter) else text


def from_number(text: str, tokens: bool = False) -> str:
    """`text` from its number on, where only filling words, a verb or a colon stand before it.

    With `tokens` also words such as `from` and `more than`.
    """
    signs = " ~≈≃∼=:,>≥" if tokens else " ~≈≃∼=:,"
    words = _FILLER | _BOUND if tokens else _FILLER
    text = text.lstrip(signs)
    if not _NUMBER.match(text):
        # What stands before a verb may hold digits: `the cache of Llama-3.1-8B is 16 GiB`.
        text = re.sub(r"^[^\d]*[A-Za-z)] *: +", "", text, count=1)
        text = re.sub(r"^.*\b(?:is|are|equals|takes|needs|gives|makes) +(?=.*\d)", "", text)
    while not _NUMBER.match(text):
        match = re.match(rf"[{signs}]*([A-Za-z][A-Za-z']*)\.?(?![A-Za-z\d])[{signs}]*", text)
        if match is None or match[1].lower() not in words:
            break
        text = text[match.end() :]
    return text.lstrip(signs)


def shorter(text: str) -> tuple[str, str] | None:
    """`text` without its last filling word or phrase, and the one thing that it counts for.

    `GiB per layer` gives (`GiB`, `layer`), `GiB in total` (`GiB in`, ``). None where nothing
    more may be left out.
    """
    text = text.rstrip(" .,;:!?")
    if match := re.search(_SCOPE, text):
        return text[: match.start()].rstrip(" ,"), match["what"].lower()
    match = re.search(_ALL, text)
    if match is None:
        match = re.search(r"(?:^|(?<=[\s,]))[A-Za-z][A-Za-z\d']*$", text)
        if match is None or match[0].lower() not in _TAIL:
            return None
    return text[: match.start()].rstrip(" ,"), ""


def alternatives(rest: str) -> tuple[str, str]:
    """What follows a number, apart: its unit, and what is said after it, often the same again.

    `GiB (17.2 GB)`, `GiB, or 17.2 GB` and `GiB / 17.2 GB` all give `GiB` and `17.2 GB`.
    """
    match = re.fullmatch(_AGAIN, rest) if re.search(r"[,;(\[/ -]", rest) else None
    if match is None:
        return rest, ""
    return match["unit"].strip(), re.sub(_LINK, "", match["other"].strip(" ,;()[]"))


def is_filler(text: str) -> bool:
    """Whether `text` says nothing that changes a number."""
    while text := text.strip(" .,;:!?()[]"):
        found = shorter(text)
        if found is None or found[1]:
            return False
        text = found[0]
    return True


def refuse_comparison(text: str) -> None:
    """Raises Unreadable for `< 5`, `!= 5` and the like: a bound is not the number asked for."""
    if re.search(r"!=|≠|≤|<|\\(?:leq?|neq?|lt)(?![A-Za-z])", text):
        raise Unreadable("A bound is not a number: write the number itself, such as 4.5 or 1.2e9.")


def refuse_range(text: str) -> None:
    """Raises Unreadable for `4-5 GB` and `4 GB to 5 GB`."""
    span = re.match(
        r"(\d+(?:\.\d+)?)(?: *[kKMGT]?i?B?) *(?:-|to) *(\d+(?:\.\d+)?)(?![\d.^*])", text
    )
    if span and float(span[1]) < float(span[2]):
        raise Unreadable("A range is not one number: write the one that you mean.")
