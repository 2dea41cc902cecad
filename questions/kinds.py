"""The kinds of questions whose answer is a file of code, and their cases."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

CODE_KINDS = ("code", "debug", "kernel")


def all_cases(question: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Every declared case; a kernel's support matrix too."""
    return [*question["cases"], *question.get("support", ())]
