"""Are two expressions the same mathematics? Decided in a clean process that can be killed.

Both are evaluated with 50 digits at random positive rationals. Where all values agree, sympy, with
an expression built node by node, may still tell that they differ by a tiny constant. Symbols are
positive reals. Nothing here sees typed text: only trees of `tree.Node`, as JSON.
"""

from __future__ import annotations

import json
import random
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

SECONDS = 10.0
_MEMORY = 1 << 30
_POINTS = 12
Tree = list[Any]  # [op, value, [operands]], as Node.to_json gives it
UNDEFINED = "undefined"


def compare(request: dict[str, Any], seconds: float = SECONDS) -> list[int | str | None]:
    """For each of `request["steps"]`, the index of the first candidate its answer equals.

    A step is {"answer": Tree, "candidates": [Tree, ...]}; `request["equal"]` maps names to the
    trees that they stand for. The result is -1 where the answer equals none, "undefined" where it
    has no value (a division by zero), and None where it was not decided within `seconds`.
    """
    # -I and the folders by hand: nothing of the learner's environment or folder is imported.
    folders = [str(Path(__file__).resolve().parents[2])]
    for package in ("sympy", "mpmath"):
        spec = find_spec(package)
        if spec is not None and spec.origin is not None:
            folders.append(str(Path(spec.origin).parents[1]))
    program = f"import sys; sys.path[:0] = {folders!r}; from grader.answers import algebra"
    results: list[int | str | None] = [None] * len(request["steps"])
    output: str | bytes | None
    try:
        output = subprocess.run(
            [sys.executable, "-I", "-S", "-c", f"{program}; algebra.main()"],
            input=json.dumps(request),
            capture_output=True,
            text=True,
            timeout=seconds,
            env={},
            start_new_session=True,
        ).stdout
    except subprocess.TimeoutExpired as late:
        output = late.stdout
    text = output.decode() if isinstance(output, bytes) else output or ""
    for i, line in zip(range(len(results)), text.splitlines(), strict=False):
        results[i] = json.loads(line)
    return results


def main() -> None:
    """The child: limits on itself first, then one line of JSON a step."""
    try:
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    except (ImportError, ValueError, OSError):
        pass  # no such limit here: the clock still holds
    request = json.load(sys.stdin)
    for step in request["steps"]:
        print(json.dumps(first_equal(step, request.get("equal", {}))), flush=True)


def first_equal(step: dict[str, Any], equal: dict[str, Tree]) -> int | str:
    """As `compare`, for one step, in this process and without limits."""
    trees = [step["answer"], *step["candidates"]]
    names = set().union(*(_names(tree) for tree in [*trees, *equal.values()]))
    points = _points(sorted(names - set(equal)), equal)
    try:
        answer = [_evaluate(step["answer"], point) for point in points]
    except (ZeroDivisionError, ValueError, OverflowError):
        return UNDEFINED
    if any(not _finite(value) for value in answer):
        return UNDEFINED
    for i, candidate in enumerate(step["candidates"]):
        values = [_evaluate(candidate, point) for point in points]
        if all(map(_close, answer, values)) and not _apart(step["answer"], candidate, equal):
            return i
    return -1


def _names(tree: Tree) -> set[str]:
    op, value, operands = tree
    return {value} if op == "sym" else set().union(*map(_names, operands))


def _points(names: list[str], equal: dict[str, Tree]) -> list[dict[str, Any]]:
    from mpmath import mp, mpf

    mp.dps = 50
    rng = random.Random(20171706)
    points = []
    for _ in range(_POINTS):
        point = {n: mpf(rng.randint(1, 97)) / rng.choice((7, 11, 13, 17)) for n in names}
        for name, tree in equal.items():
            point[name] = _evaluate(tree, point)
        points.append(point)
    return points


def _evaluate(tree: Tree, point: dict[str, Any]) -> Any:
    from mpmath import mp, mpf

    op, value, operands = tree
    if op == "num":
        return mpf(value)
    if op == "sym":
        return point[value]
    args = [_evaluate(operand, point) for operand in operands]
    if op in ("max", "min"):
        return max(args) if op == "max" else min(args)
    if op == "pow":
        return mp.power(*args)
    if op in ("sqrt", "exp", "log"):
        return getattr(mp, op)(args[0])
    if op == "neg":
        return -args[0]
    left, right = args
    if op == "div":
        return left / right
    return left * right if op == "mul" else left + right if op == "add" else left - right


def _finite(value: Any) -> bool:
    from mpmath import mp

    return bool(mp.isfinite(value))


def _close(a: Any, b: Any) -> bool:
    scale = max(abs(a), abs(b))
    return bool(abs(a - b) <= (scale if scale > 1 else 1) * 10**-30)


def _apart(a: Tree, b: Tree, equal: dict[str, Tree]) -> bool:
    """Whether sympy proves a difference that the sampled values are too coarse to show."""
    import sympy

    difference = sympy.expand(_build(a, equal) - _build(b, equal))
    return bool(difference.is_number and sympy.simplify(difference) != 0)


def _build(tree: Tree, equal: dict[str, Tree]) -> Any:
    import sympy

    op, value, operands = tree
    if op == "num":
        return sympy.Rational(value)
    if op == "sym":
        if value in equal:
            return _build(equal[value], {})
        return sympy.Symbol(value, positive=True)
    args = [_build(operand, equal) for operand in operands]
    makers = {
        "add": sympy.Add,
        "mul": sympy.Mul,
        "pow": sympy.Pow,
        "sqrt": sympy.sqrt,
        "exp": sympy.exp,
        "log": sympy.log,
        "max": sympy.Max,
        "min": sympy.Min,
        "neg": lambda x: -x,
        "sub": lambda x, y: x - y,
        "div": lambda x, y: x / y,
    }
    return makers[op](*args)
