"""Small matrices worked by hand: compared entry by entry with the reference's steps."""

from __future__ import annotations

import importlib
from math import prod
from typing import Any

from grader.answers import draw
from grader.answers.matrices import Matrix, Row, fitted, read_matrices, size
from grader.answers.reading import Unreadable, shown
from grader.report import NamedMistake, Part, Report, Verdict


def expected(question: dict[str, Any], values: dict[str, Any]) -> dict[str, list[Row]]:
    """The right matrix of each part, as rows; a vector is one row."""
    return {part: _rows(matrix) for part, matrix in _call(question["reference"], values).items()}


def mistaken(mistake: dict[str, Any], values: dict[str, Any]) -> list[Row]:
    """The matrix that a known mistake gives for its part."""
    result = _call(mistake["reference"], values)
    return _rows(result[mistake["part"]] if isinstance(result, dict) else result)


def _call(dotted: str, values: dict[str, Any]) -> Any:
    module, _, name = dotted.rpartition(".")
    target = getattr(importlib.import_module(module), name)
    return target(**values) if callable(target) else target


def _rows(matrix: Any) -> list[Row]:
    rows = matrix if matrix and isinstance(matrix[0], (list, tuple)) else [matrix]
    return [[float(x) for x in row] for row in rows]


def grade(question: dict[str, Any], text: str, seed: int, mistakes: dict[str, Any]) -> Report:
    """Grade each part's matrix, to the question's absolute tolerance."""
    values = draw.parameters(question, seed)
    asked = question["parts"]
    try:
        matrices = read_matrices(text, [tuple(part["shape"]) for part in asked])
        _refuse_decimal_commas(matrices, asked)
    except Unreadable as error:
        return _report(question, seed, "invalid", [], str(error), [])
    right = expected(question, values)
    parts, named = [], []
    for part, matrix in zip(asked, matrices, strict=True):
        given = fitted(matrix, tuple(part["shape"]))
        if given is None:
            message = _misfit(matrix, part["shape"])
        else:
            message = _difference(given, right[part["id"]], part, question["tolerance"])
            found = _named(question, part["id"], given, right[part["id"]], values)
            if message and found is not None:
                title = mistakes.get(found["id"], {}).get("title")
                words = found["says"].strip()
                named.append(NamedMistake(found["id"], title or _title(found["id"]), words))
                message = f"{words} {message}"
        verdict: Verdict = "wrong_answer" if message else "passed"
        written = shown("; ".join(" ".join(f"{x:g}" for x in row) for row in matrix.rows), 120)
        parts.append(Part(part["id"], verdict, message, part["asks"], written))
    count = sum(part.verdict == "passed" for part in parts)
    verdict = "passed" if count == len(parts) else "partial" if count else "wrong_answer"
    wrong = next((part for part in parts if part.verdict != "passed"), None)
    summary = "Every entry is right."
    if wrong is not None:
        summary = f"{count} of {len(parts)} parts right; the first that is not is {wrong.id}."
    return _report(question, seed, verdict, parts, summary, named)


def _title(mistake: str) -> str:
    return mistake.replace("-", " ")


def _close(given: float, right: float, tolerance: float) -> bool:
    return given == right or abs(given - right) <= tolerance * (1 + 1e-9)


def _wrong_entries(given: list[Row], right: list[Row], tolerance: float) -> list[tuple[int, int]]:
    return [
        (i, j)
        for i, row in enumerate(right)
        for j, x in enumerate(row)
        if not _close(given[i][j], x, tolerance)
    ]


def _misfit(matrix: Matrix, shape: list[int]) -> str:
    asked = f"{shape[0]} x {shape[1]} numbers" if len(shape) > 1 else f"{shape[0]} numbers"
    return f"{asked} are asked for, and this is {size(matrix)}."


def _refuse_decimal_commas(matrices: list[Matrix], asked: list[dict[str, Any]]) -> None:
    """Raises Unreadable where every matrix has twice the numbers asked for, as `0,5` makes it."""
    if all(len(m.flat) == 2 * prod(part["shape"]) for m, part in zip(matrices, asked, strict=True)):
        raise Unreadable("A comma stands between two numbers: write decimals with a point, 0.5.")


def _difference(given: list[Row], right: list[Row], part: dict[str, Any], tolerance: float) -> str:
    """What is wrong first, and the step it comes from; empty where nothing is."""
    wrong = _wrong_entries(given, right, tolerance)
    if not wrong:
        return ""
    i, j = wrong[0]
    entry = f"row {i}, column {j}" if len(right) > 1 else f"entry {j}"
    count = len(right) * len(right[0])
    number = "" if count == 1 else f" ({len(wrong)} of {count} are wrong)"
    return (
        f"The first wrong entry is {entry}, counted from 0{number}: yours {given[i][j]:.4g},"
        f" expected {right[i][j]:.4g}. {part['step'].strip()}"
    )


def _named(
    question: dict[str, Any],
    part: str,
    given: list[Row],
    right: list[Row],
    values: dict[str, Any],
) -> dict[str, Any] | None:
    """The one known mistake whose matrix this is; None where none or several fit."""
    tolerance = question["tolerance"]
    fits = []
    for mistake in question["mistakes"]:
        if mistake["part"] != part:
            continue
        wrong = mistaken(mistake, values)
        # Too near the right matrix, it could not be told from a rounding of it.
        if not _wrong_entries(wrong, right, 2 * tolerance):
            continue
        if not _wrong_entries(given, wrong, tolerance):
            fits.append(mistake)
    return fits[0] if len(fits) == 1 else None


def _report(
    question: dict[str, Any],
    seed: int,
    verdict: Verdict,
    parts: list[Part],
    summary: str,
    named: list[NamedMistake],
) -> Report:
    right = sum(part.verdict == "passed" for part in parts)
    return Report(
        question=question["id"],
        kind="trace",
        verdict=verdict,
        score=right / len(parts) if parts else 0.0,
        seed=seed,
        summary=summary,
        parts=tuple(parts),
        mistakes=tuple(named),
        revision=question.get("revision", 1),
    )
