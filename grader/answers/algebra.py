"""Are two expressions the same mathematics? Decided in a clean process that can be killed.

Both are evaluated at random positive rationals, with 60 digits and again with 200: what differs
truly still differs then, and what differs by rounding has shrunk. Where all values agree, sympy,
with an expression built node by node, may still tell that they differ by a constant. Symbols are
positive reals. Nothing here sees typed text: only trees of `tree.Node`, as JSON.
"""

from __future__ import annotations

import json
import random
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from threading import current_thread, main_thread
from typing import Any

SECONDS = 10.0
_MEMORY = 1 << 30
_POINTS = 12
_DIGITS = (60, 200)
_FAR = (0, 0, 0, 0, 0, 0, -9, 9)  # powers of ten
_LARGEST = 10**12  # exponent of e; towers of powers go beyond and would never end
_SYMBOLIC_SECONDS = 1.5  # for one pair whose values agree: then the values decide
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
    free = sorted(names - set(equal))
    try:
        answer = [_values(step["answer"], free, equal, digits) for digits in _DIGITS]
    except (ArithmeticError, ValueError, TypeError):
        return UNDEFINED
    if any(not _finite(value) for values in answer for value in values):
        return UNDEFINED
    for i, candidate in enumerate(step["candidates"]):
        target = [_values(candidate, free, equal, digits) for digits in _DIGITS]
        if _agree(answer, target) and not _apart(step["answer"], candidate, equal):
            return i
    return -1


def _names(tree: Tree) -> set[str]:
    op, value, operands = tree
    return {value} if op == "sym" else set().union(*map(_names, operands))


def _values(tree: Tree, free: list[str], equal: dict[str, Tree], digits: int) -> list[Any]:
    """The values at the points, which are the same for the same names."""
    from mpmath import mp, mpf

    mp.dps = digits
    rng = random.Random(20171706)
    values = []
    for _ in range(_POINTS):
        # Far out, what vanishes nearby shows: exp(-10^6 x) is 0 but for small x.
        point = {
            n: mpf(rng.randint(1, 97)) / rng.choice((7, 11, 13, 17)) * mpf(10) ** rng.choice(_FAR)
            for n in free
        }
        for name, meaning in equal.items():
            point[name] = _evaluate(meaning, point)
        values.append(_evaluate(tree, point))
    return values


def _agree(answer: list[list[Any]], target: list[list[Any]]) -> bool:
    """Whether the coarse and fine values agree, but for rounding, at every point."""
    for coarse, fine, coarse_target, fine_target in zip(*answer, *target, strict=True):
        difference = abs(fine - fine_target)
        scale = max(abs(fine), abs(fine_target), abs(coarse - coarse_target))
        if difference > scale * 10**-90:
            return False
    return True


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
    if op == "pow" and args[0]:
        _bounded(args[1] * mp.log(abs(args[0])))
    if op == "pow":
        return mp.power(*args)
    if op == "exp":
        _bounded(args[0])
    if op in ("sqrt", "exp", "log"):
        return getattr(mp, op)(args[0])
    if op == "neg":
        return -args[0]
    left, right = args
    if op == "div":
        return left / right
    return left * right if op == "mul" else left + right if op == "add" else left - right


def _bounded(exponent: Any) -> None:
    if not abs(exponent) < _LARGEST:
        raise OverflowError


def _finite(value: Any) -> bool:
    from mpmath import mp

    return bool(mp.isfinite(value))


def _apart(a: Tree, b: Tree, equal: dict[str, Tree]) -> bool:
    """Whether sympy proves a difference that the sampled values are too coarse to show."""
    import sympy

    try:
        with _alarm(_SYMBOLIC_SECONDS):
            difference = sympy.expand(_build(a, equal) - _build(b, equal))
            return bool(difference.is_number and sympy.simplify(difference) != 0)
    except (_TooLong, ArithmeticError, ValueError, TypeError, RecursionError):
        return False


class _TooLong(Exception):
    """Raised by the clock inside what it limits."""


@contextmanager
def _alarm(seconds: float) -> Iterator[None]:
    """Raise _TooLong in the block after `seconds`, where there are signals and a main thread."""
    if not hasattr(signal, "setitimer") or current_thread() is not main_thread():
        yield
        return

    def ring(*_: object) -> None:
        raise _TooLong

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


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
