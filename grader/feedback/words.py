"""Facts into sentences, by the jinja2 templates beside this file."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from grader.characters import is_shown

if TYPE_CHECKING:
    from jinja2 import Environment

LONGEST = 2000


@lru_cache(maxsize=1)
def _environment() -> Environment:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined  # a pass never needs it

    return Environment(
        loader=FileSystemLoader(Path(__file__).parent),
        autoescape=False,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def say(template: str, **facts: Any) -> str:
    """The sentence of `template`.j2 for these facts, on one line."""
    text = _environment().get_template(f"{template}.j2").render(**facts)
    return " ".join(text.split())


def clean(text: str, longest: int = LONGEST) -> str:
    """Text from a submission: printable, of bounded length. Line ends and tabs stay."""
    kept = "".join(c for c in text if is_shown(c) or c in "\n\t")
    return kept if len(kept) <= longest else kept[: longest - 1] + "…"


def count(n: int, noun: str) -> str:
    """`1 entry`, `3 entries`, `1,024 cases`."""
    if n == 1:
        return f"1 {noun}"
    plural = noun[:-1] + "ies" if noun.endswith("y") else noun + "s"
    return f"{n:,} {plural}"
