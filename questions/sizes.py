"""Sizes written as arithmetic over a case's symbols: "H * D", "S - 1", 4.

Whole numbers, names, `+ - * // %`, a sign and brackets; a small tree is walked, nothing is run.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Mapping
from functools import lru_cache

LONGEST = 120
LARGEST = 2**40

_OPERATORS: dict[type[ast.operator], Callable[[int, int], int]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
}


class SizeError(ValueError):
    """A size that cannot be computed; the message is one sentence."""


@lru_cache(maxsize=1024)
def _tree(expression: str) -> ast.expr:
    if len(expression) > LONGEST:
        raise SizeError(f"a size has at most {LONGEST} characters")
    try:
        return ast.parse(expression.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise SizeError(f"`{expression}` is not arithmetic such as `H * D`") from None


def _walk(node: ast.expr, sizes: Mapping[str, int], expression: str) -> int:
    if isinstance(node, ast.Constant) and type(node.value) is int:
        return node.value
    if isinstance(node, ast.Name):
        if node.id not in sizes:
            where = "" if node.id == expression.strip() else f" in `{expression}`"
            raise SizeError(f"`{node.id}`{where} is not among the sizes")
        return sizes[node.id]
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.USub, ast.UAdd)):
        value = _walk(node.operand, sizes, expression)
        return -value if isinstance(node.op, ast.USub) else value
    if isinstance(node, ast.BinOp) and type(node.op) in _OPERATORS:
        left = _walk(node.left, sizes, expression)
        right = _walk(node.right, sizes, expression)
        if right == 0 and isinstance(node.op, (ast.FloorDiv, ast.Mod)):
            raise SizeError(f"`{expression}` divides by zero")
        value = _OPERATORS[type(node.op)](left, right)
        if abs(value) > LARGEST:
            raise SizeError(f"`{expression}` is larger than any size may be")
        return value
    raise SizeError(f"`{expression}` may hold only whole numbers, sizes, + - * // % and brackets")


def evaluate(expression: int | str, sizes: Mapping[str, int]) -> int:
    """The value of a size under a case's `sizes`.

    Raises SizeError on a name that is not among them and on anything but arithmetic.
    """
    if isinstance(expression, int):
        return expression
    return _walk(_tree(expression), sizes, expression)
