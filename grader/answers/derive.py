"""A chain of expressions, one a line, each judged on its own against its target."""

from __future__ import annotations

import re
from typing import Any

from grader.answers import algebra
from grader.answers.expressions import parse
from grader.answers.reading import Unreadable, shown, visible
from grader.answers.tree import Node, written
from grader.report import NamedMistake, Part, Report, Verdict


def lines_of(question: dict[str, Any], text: str) -> list[str]:
    """The answer's lines, one a step, without a bullet, a number or a label in front.

    Raises Unreadable where their number is not that of the steps.
    """
    steps = question["steps"]
    lines = [line for line in visible(text).split("\n") if line.strip(" \t$`")]
    if len(lines) == 1 and len(steps) > 1 and lines[0].count(";") == len(steps) - 1:
        lines = lines[0].split(";")
    if len(lines) != len(steps):
        names = ", ".join(step["id"] for step in steps)
        number = f"{len(lines)} line{'' if len(lines) == 1 else 's'}"
        raise Unreadable(
            f"This asks for {len(steps)} expression{'' if len(steps) == 1 else 's'}, one a line"
            f" ({names}), and the answer has {number}."
        )
    if len(lines) > 1 and all(re.match(r"\s*[-–]\s", line) for line in lines):
        lines = [re.sub(r"^\s*[-–]\s+", "", line) for line in lines]  # bullets, not signs
    return [_unlabelled(line, i, question["symbols"]) for i, line in enumerate(lines, 1)]


def _unlabelled(line: str, number: int, symbols: dict[str, str]) -> str:
    """`line` without `3.`, `(c)`, `step 3:` or `variance:` in front; `h : g` is a quotient."""
    letter = chr(ord("a") + number - 1)
    line = re.sub(r"^\s*(?:[*•‣·]\s+|[-–]\s+(?=[A-Za-z][\w -]*:))", "", line)
    line = re.sub(rf"^\s*(?:step\s*)?{number}\s*\.(?=\s|[A-Za-z√\\(-])\s*", "", line, flags=re.I)
    line = re.sub(rf"^\s*(?:step\s*)?(?:\({number}\)|{number}\s*:|\d+\))\s*", "", line, flags=re.I)
    line = re.sub(rf"^\s*(?:\({letter}\)(?=\s)|{letter}\))\s*", "", line)
    label, colon, rest = line.partition(":")
    if not colon or rest.startswith("=") or not rest.strip():
        return line
    try:
        parse(label, symbols)
    except Unreadable:
        return rest
    return f"({label})/({rest})"


def equal_names(question: dict[str, Any]) -> dict[str, algebra.Tree]:
    """Symbols that stand for an earlier step's target: `m_new` where a step is `m-new`."""
    steps = {step["id"].replace("-", "_"): step["target"] for step in question["steps"]}
    symbols = question["symbols"]
    return {n: parse(steps[n], symbols).to_json() for n in symbols if n in steps}


def grade(question: dict[str, Any], text: str, seed: int, mistakes: dict[str, Any]) -> Report:
    """Grade the steps. Named mistakes are the question's own, with its own words."""
    symbols, steps = question["symbols"], question["steps"]
    try:
        lines = lines_of(question, text)
    except Unreadable as error:
        return _report(question, seed, [], str(error), ())
    trees: dict[int, Node] = {}
    errors: dict[int, str] = {}
    for i, line in enumerate(lines):
        try:
            trees[i] = parse(line, symbols)
        except Unreadable as error:
            errors[i] = str(error)
    request = [
        {
            "answer": tree.to_json(),
            "candidates": [
                parse(source, symbols).to_json()
                for source in (steps[i]["target"], *(m["expression"] for m in steps[i]["mistakes"]))
            ],
        }
        for i, tree in trees.items()
    ]
    found: dict[int, int | str | None] = {}
    if request:
        results = algebra.compare({"steps": request, "equal": equal_names(question)})
        found = dict(zip(trees, results, strict=True))
    parts, named = [], []
    for i, step in enumerate(steps):
        verdict, message = _judge(step, trees.get(i), errors.get(i, ""), found.get(i))
        result = found.get(i)
        if isinstance(result, int) and result > 0:
            wrong = step["mistakes"][result - 1]
            title = mistakes.get(wrong["id"], {}).get("title") or wrong["id"].replace("-", " ")
            named.append(NamedMistake(wrong["id"], title, wrong["says"].strip()))
        parts.append(Part(step["id"], verdict, message, step["asks"], shown(lines[i], 80)))
    return _report(question, seed, parts, "", tuple(named))


def _judge(
    step: dict[str, Any], tree: Node | None, error: str, result: int | str | None
) -> tuple[Verdict, str]:
    if tree is None:
        return "invalid", error
    read = shown(written(tree), 120)
    if result == algebra.UNDEFINED:
        return "wrong_answer", f"{read} has no value, or none that could be reached: check it."
    if result is None:
        return "invalid", "This could not be compared within 10 s: write it more simply."
    if result == 0:
        return "passed", ""
    if isinstance(result, int) and result > 0:
        return "wrong_answer", str(step["mistakes"][result - 1]["says"]).strip()
    return "wrong_answer", f"Read as {read}: that is not {step['asks']}."


def _report(
    question: dict[str, Any],
    seed: int,
    parts: list[Part],
    error: str,
    named: tuple[NamedMistake, ...],
) -> Report:
    right = sum(part.verdict == "passed" for part in parts)
    verdict: Verdict = "wrong_answer"
    if not parts or all(part.verdict == "invalid" for part in parts):
        verdict = "invalid"
    elif right:
        verdict = "passed" if right == len(parts) else "partial"
    if not error:
        error = f"{right} of {len(parts)} steps right."
        if verdict == "invalid":
            error = parts[0].message
        elif verdict == "passed":
            error = "Every step is right."
    return Report(
        question=question["id"],
        kind="derive",
        verdict=verdict,
        score=right / len(parts) if parts else 0.0,
        seed=seed,
        summary=error,
        parts=tuple(parts),
        mistakes=named,
        revision=question.get("revision", 1),
    )
