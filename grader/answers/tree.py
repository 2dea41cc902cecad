"""The tree that an expression is read into: a few allowed nodes, and nothing that evaluates."""

from __future__ import annotations

from dataclasses import dataclass
from math import exp, log, sqrt
from typing import Any


@dataclass(frozen=True)
class Node:
    """`op` is num, sym, neg, add, sub, mul, div, pow or a function's name.

    num and sym have their text in `value`, the others their operands in `args`.
    """

    op: str
    args: tuple[Node, ...] = ()
    value: str = ""

    def to_json(self) -> list[Any]:
        return [self.op, self.value, [arg.to_json() for arg in self.args]]


def constant(node: Node) -> float | None:
    """The rough value of a tree without names, for the limits only; None with names."""
    if node.op == "num":
        return float(node.value)
    if node.op == "sym":
        return None
    values = [constant(arg) for arg in node.args]
    if any(value is None for value in values):
        return None
    numbers = [float(value) for value in values if value is not None]
    try:
        return _rough(node.op, numbers)
    except (OverflowError, ZeroDivisionError, ValueError):
        return float("inf")


def _rough(op: str, v: list[float]) -> float:
    if op == "neg":
        return -v[0]
    if op in ("add", "sub"):
        return v[0] + v[1] if op == "add" else v[0] - v[1]
    if op in ("mul", "div"):
        return v[0] * v[1] if op == "mul" else v[0] / v[1]
    if op == "pow":
        power = v[0] ** v[1]
        return power if isinstance(power, float) else abs(power)
    if op in ("max", "min"):
        return max(v) if op == "max" else min(v)
    if op == "exp":
        return exp(v[0])
    size = abs(v[0])  # of a negative number's complex root or logarithm, near enough
    return sqrt(size) if op == "sqrt" else log(size)


_RANK = {"add": 1, "sub": 1, "neg": 1, "mul": 2, "div": 2, "pow": 4}
_SIGN = {"add": " + ", "sub": " - ", "mul": "*", "div": "/", "pow": "^"}


def written(node: Node, rank: int = 0) -> str:
    """The tree as text, to show how an answer was read."""
    if node.op in ("num", "sym"):
        return node.value
    if node.op not in _RANK:
        return f"{node.op}({', '.join(written(arg) for arg in node.args)})"
    own = _RANK[node.op]
    if node.op == "neg":
        text = "-" + written(node.args[0], 2)
    else:
        left, right = node.args
        tight = node.op in ("sub", "div", "pow")
        text = written(left, own + (node.op == "pow")) + _SIGN[node.op]
        text += written(right, own + tight)
    return f"({text})" if own < rank else text
