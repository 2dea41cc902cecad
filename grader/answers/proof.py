"""What the bank must hold for its questions without code: found before a learner meets it."""

from __future__ import annotations

import importlib
import re
import time
from collections.abc import Iterator
from typing import Any

SEEDS = range(20)
_PATTERN_SECONDS = 0.1
_NESTED = 6  # times that what itself repeats, or has alternatives, may repeat

try:
    _parser = importlib.import_module("re._parser")
except ImportError:  # Python 3.10
    _parser = importlib.import_module("sre_parse")


def findings(question: dict[str, Any]) -> list[str]:
    """One sentence for each thing that is wrong with a compute, derive, trace, choice or explain
    question; empty where the question can be served."""
    check = {
        "compute": _compute,
        "derive": _derive,
        "trace": _trace,
        "choice": _choice,
        "explain": _explain,
    }[question["kind"]]
    return list(check(question))


def _compute(question: dict[str, Any]) -> Iterator[str]:
    from grader.answers import compute, draw

    shown: set[str] = set()
    told: set[str] = set()
    for seed in SEEDS:
        values = draw.parameters(question, seed)
        answer = compute.right_answer(question, values)
        if not answer > 0:
            yield f"seed {seed} gives {answer}: answers must be positive"
            return
        typed = f"{answer!r}" if isinstance(answer, float) else str(answer)
        if compute.grade(question, typed, seed, {}).verdict != "passed":
            yield f"seed {seed}: the right number {typed} does not pass"
        for mistake in question["mistakes"]:
            number = compute.slip(mistake, answer, values)
            if number is None or abs(number - answer) <= question["tolerance"] * answer:
                continue
            shown.add(mistake)
            report = compute.grade(question, repr(float(number)), seed, {})
            # Alone as a named mistake, or by its title among the few that give this number.
            title = mistake.replace("-", " ")
            if mistake in [m.id for m in report.mistakes] or title in report.summary:
                told.add(mistake)
    for mistake in question["mistakes"]:
        if mistake not in shown:
            yield f"mistake `{mistake}` changes the number for none of {len(SEEDS)} seeds"
        elif mistake not in told:
            yield f"mistake `{mistake}` shares its number with too many others to be told"


def _derive(question: dict[str, Any]) -> Iterator[str]:
    from grader.answers import algebra, derive
    from grader.answers.expressions import parse
    from grader.answers.reading import Unreadable

    symbols = question["symbols"]
    steps: list[dict[str, Any]] = []
    names: list[str] = []
    for step in question["steps"]:
        rows = [("target", step["target"])] + [(m["id"], m["expression"]) for m in step["mistakes"]]
        trees = []
        for name, expression in rows:
            try:
                trees.append(parse(expression, symbols).to_json())
            except Unreadable as error:
                yield f"step `{step['id']}`, {name}: {error}"
                return
        for (name, _), tree in zip(rows, trees, strict=True):
            others = [other for other in trees if other is not tree]
            steps.append({"answer": tree, "candidates": others})
            names.append(f"step `{step['id']}`, {name}")
    results = algebra.compare(
        {"steps": steps, "equal": derive.equal_names(question)}, 6 * algebra.SECONDS
    )
    for name, result in zip(names, results, strict=True):
        if result == algebra.UNDEFINED:
            yield f"{name} has no value"
        elif result is None:
            yield f"{name} could not be compared"
        elif result != -1:
            yield f"{name} equals another expression of its step"


def _trace(question: dict[str, Any]) -> Iterator[str]:
    from grader.answers import draw, trace

    for seed in SEEDS if any((question["parameters"] or {}).values()) else range(1):
        values = draw.parameters(question, seed)
        right = trace.expected(question, values)
        for part in question["parts"]:
            shape = part["shape"] if len(part["shape"]) > 1 else [1, *part["shape"]]
            rows = right.get(part["id"])
            if rows is None or [len(rows), len(rows[0])] != shape:
                yield f"part `{part['id']}` is not of shape {part['shape']} for seed {seed}"
                return
        for mistake in question["mistakes"]:
            answer = {**right, mistake["part"]: trace.mistaken(mistake, values)}
            text = "\n".join(str(answer[part["id"]]) for part in question["parts"])
            named = [m.id for m in trace.grade(question, text, seed, {}).mistakes]
            if named != [mistake["id"]]:
                yield f"mistake `{mistake['id']}` is not named alone for seed {seed}: {named}"


def _choice(question: dict[str, Any]) -> Iterator[str]:
    right = sum(option["correct"] for option in question["options"])
    if right == 0:
        yield "no option is correct"
    if right != 1 and not question["several"]:
        yield f"{right} options are correct where one is asked for"


def _explain(question: dict[str, Any]) -> Iterator[str]:
    from grader.answers import explain

    rows = [*question["key_points"], *question["wrong_claims"]]
    patterns = [
        (row["id"], pattern)
        for row in rows
        for key in ("says", "hints_at", "unless")
        for pattern in row.get(key, ())
    ]
    for owner, pattern in patterns:
        try:
            compiled = re.compile(pattern)
        except re.error as error:
            yield f"`{owner}`: the pattern {pattern!r} is not one: {error}"
            return
        if _may_explode(pattern):
            yield f"`{owner}`: {pattern!r} repeats what already repeats more than {_NESTED} times"
            return
        if _is_slow(compiled):
            yield f"`{owner}`: the pattern {pattern!r} takes too long on ordinary text"
            return
    report = explain.grade(question, question["model_answer"], 0, {})
    if report.verdict != "passed":
        missed = [part.id for part in report.parts if part.verdict != "passed"]
        claims = [mistake.id for mistake in report.mistakes]
        yield f"the model answer does not pass: {missed + claims + list(report.notes)}"


def _is_slow(pattern: re.Pattern[str]) -> bool:
    """Whether a search takes long on text made to keep it trying; short texts come first."""
    # Words of the pattern itself, over and over, are what makes it try again and again.
    words = " ".join(re.findall(r"[a-z]+", pattern.pattern)) + " "
    for length in (50, 100, 200, 400, 1000):
        for text in (words, "a", "a "):
            start = time.perf_counter()
            pattern.search((text * length)[:length])
            if time.perf_counter() - start > _PATTERN_SECONDS:
                return True
    return False


def _may_explode(pattern: str) -> bool:
    """Whether a variable repeat stands inside another that is not tightly bounded: the form of
    every pattern whose time grows exponentially."""
    return any(most > _NESTED and _varies(body) for most, body in _repeats(_parser.parse(pattern)))


def _repeats(tree: Any) -> Iterator[tuple[int, Any]]:
    for operator, argument in tree:
        if str(operator) in ("MAX_REPEAT", "MIN_REPEAT"):
            yield int(argument[1]), argument[2]
        for inner in _inside(operator, argument):
            yield from _repeats(inner)


def _varies(tree: Any) -> bool:
    for operator, argument in tree:
        name = str(operator)
        if name in ("MAX_REPEAT", "MIN_REPEAT") and argument[0] != argument[1]:
            return True
        # What looks ahead is settled once and never tried again.
        if name == "BRANCH" or (
            not name.startswith("ASSERT") and any(map(_varies, _inside(operator, argument)))
        ):
            return True
    return False


def _inside(operator: Any, argument: Any) -> list[Any]:
    name = str(operator)
    if name == "BRANCH":
        return list(argument[1])
    if name in ("MAX_REPEAT", "MIN_REPEAT"):
        return [argument[2]]
    if name == "SUBPATTERN":
        return [argument[3]]
    return [argument[1]] if name in ("ASSERT", "ASSERT_NOT") else []
