"""A question's parameters: fresh from the seed, the same for the same seed everywhere."""

from __future__ import annotations

import random
from typing import Any


def parameters(question: dict[str, Any], seed: int) -> dict[str, Any]:
    """Draw the parameters of a compute or trace question; other kinds have none.

    The values are numbers, strings and lists. A question that takes a published model's
    sizes also gets its name as `model`.
    """
    given = question.get("parameters") or {}
    # A string seed is hashed by random itself, alike in every process and version.
    rng = random.Random(f"{question['id']}:{seed}")
    values: dict[str, Any] = {}
    model = given.get("model")
    if model:
        from reference import models

        name = _pick(rng, model["names"])
        row = models.load()[name]
        values["model"] = name
        for parameter, column in model["take"].items():
            values[parameter] = _number(row[column])
    for parameter, choices in (given.get("draw") or {}).items():
        values[parameter] = _pick(rng, choices)
    return values


def _pick(rng: random.Random, choices: Any) -> Any:
    # Not rng.choice: only random() is promised to give the same numbers in every version.
    return choices[int(rng.random() * len(choices))]


def _number(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    try:
        number = float(value)
    except ValueError:
        return value
    return int(number) if number.is_integer() else number
