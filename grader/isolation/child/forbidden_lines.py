"""Where the submission uses a ruled-out operation: the line that runs, or the one that names it."""

from __future__ import annotations

import ast
import linecache
import sys
from collections.abc import Iterator

ALSO = {"autograd": frozenset({"backward"})}
"""Other names of what a refusal names."""


def line_of(operation: str, filename: str) -> int:
    """The line of the submission's file at which `operation` is used; 0: it cannot be told.

    The line that runs, and where none does, because torch was given the operation to call (as the
    entry itself, or in a thread, or in a scripted function), the only line that names it.
    """
    lines = linecache.getlines(filename)
    return _running(filename, len(lines)) or _named(operation, "".join(lines))


def _running(filename: str, count: int) -> int:
    frame = sys._getframe(1)
    while frame is not None:
        # Code that is compiled from a string may bear the file's name, and lines that it lacks.
        if frame.f_code.co_filename == filename and (frame.f_lineno <= count or not count):
            return frame.f_lineno
        if frame.f_back is None:
            break
        frame = frame.f_back
    return 0


def _named(operation: str, source: str) -> int:
    wanted = {_plain(operation.rpartition(".")[2]), *ALSO.get(operation, ())}
    try:
        nodes = list(ast.walk(ast.parse(source)))
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return 0
    defined = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    own = {node.name for node in nodes if isinstance(node, defined)}
    uses = {line for name, line in _uses(nodes) if name not in own and _plain(name) in wanted}
    imports = {
        node.lineno
        for node in nodes
        if isinstance(node, ast.alias) and _plain(node.name.rpartition(".")[2]) in wanted
    }
    found = uses or imports
    return found.pop() if len(found) == 1 else 0


def _uses(nodes: list[ast.AST]) -> Iterator[tuple[str, int]]:
    for node in nodes:
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            yield node.id, node.lineno
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load):
            # A dot, so that it is none of the file's own names.
            yield f".{node.attr}", node.end_lineno or node.lineno


def _plain(name: str) -> str:
    """torch.softmax, nn.Softmax and aten::_softmax are one operation."""
    return name.replace("_", "").removeprefix(".").lower()
