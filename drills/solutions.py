"""The solution of a question: for code the reference's own source, read and never run."""

from __future__ import annotations

import ast
import importlib
import importlib.util
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from drills.errors import DrillError
from drills.serving import Served
from drills.workspace import near
from questions.kinds import CODE_KINDS
from questions.text import fill


def solution(served: Served) -> tuple[str, str]:
    """The solution as Markdown, and as code ("" where there is none)."""
    question = served.question
    kind = question["kind"]
    explanation = served.text(question["explanation"])
    if triton_module(question):
        explanation += (
            "\n\nThat is plain torch. The kernel in Triton, and why it is written so:\n\n"
            f"```\ndrill solution {served.id} --device interpret\n```"
        )
    if kind in CODE_KINDS:
        bugs = "\n".join(
            f"- line {bug['line']}: {' '.join(bug['fix'].split())}"
            for bug in question.get("bugs") or ()
        )
        return "\n\n".join(part for part in (bugs, explanation) if part), reference_source(
            question["reference"]
        )
    answer = {
        "compute": _compute,
        "derive": _derive,
        "trace": _trace,
        "choice": _choice,
        "explain": _explain,
    }[kind](served)
    return f"{answer}\n\n{explanation}", ""


def triton_solution(served: Served) -> tuple[str, str]:
    """The kernel in Triton, as its module's own words in Markdown, and as code. Raises DrillError
    (exit 2) where the question has none."""
    module = triton_module(served.question)
    if not module:
        raise DrillError(f"{served.id} has no solution in Triton: drill solution {served.id}")
    path = _source(module)
    words = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
    file = f"It stands, with all its comments, in\n\n```\n{near(path)}\n```"
    return f"{words}\n\n{file}", reference_source(f"{module}.{served.question['entry']}")


def triton_module(question: Mapping[str, Any]) -> str:
    """The module beside a kernel's reference that solves it in Triton: of those named `triton_*`
    the one that defines the question's entry. "" where there is none."""
    if question["kind"] != "kernel":
        return ""
    module = question["reference"].rpartition(".")[0]
    for path in sorted(_source(module).parent.glob("triton_*.py")):
        body = ast.parse(path.read_text(encoding="utf-8")).body
        if any(_name(node) == question["entry"] for node in body):
            return f"{module.rpartition('.')[0]}.{path.stem}"
    return ""


def reference_source(dotted: str) -> str:
    """The function `dotted` names, with the helpers of the reference that it uses.

    The modules are found and parsed, not imported: they may import torch.
    """
    imports: dict[str, None] = {}
    parts: list[str] = []
    _collect(dotted, imports, parts, set())
    return "\n\n\n".join(["\n".join(imports), *parts] if imports else parts)


def _collect(dotted: str, imports: dict[str, None], parts: list[str], seen: set[str]) -> None:
    """Add the source of `dotted` to `parts`, what it uses before it, and outside `imports`."""
    if dotted in seen:
        return
    seen.add(dotted)
    module, _, name = dotted.rpartition(".")
    text = _source(module).read_text(encoding="utf-8")
    lines = text.splitlines()
    body = ast.parse(text).body
    node = next((node for node in body if _name(node) == name), None)
    if node is None:
        raise LookupError(f"{module} does not define {name}")
    used = {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}
    for other in body:
        if isinstance(other, (ast.Import, ast.ImportFrom)):
            _collect_import(other, used, imports, parts, seen)
        elif _name(other) in used:
            _collect(f"{module}.{_name(other)}", imports, parts, seen)
    parts.append(_text(node, lines))


def _source(module: str) -> Path:
    """The module's file, without importing it."""
    spec = importlib.util.find_spec(module)
    if spec is None or spec.origin is None:
        raise FileNotFoundError(f"no module {module}")
    return Path(spec.origin)


def _collect_import(
    node: ast.Import | ast.ImportFrom,
    used: set[str],
    imports: dict[str, None],
    parts: list[str],
    seen: set[str],
) -> None:
    for alias in node.names:
        if (alias.asname or alias.name).partition(".")[0] not in used:
            continue
        if isinstance(node, ast.Import):
            imports[ast.unparse(ast.Import([alias]))] = None
        elif node.module and node.module.partition(".")[0] == "reference" and not alias.asname:
            _collect(f"{node.module}.{alias.name}", imports, parts, seen)
        else:
            imports[ast.unparse(ast.ImportFrom(node.module, [alias], node.level))] = None


def _name(node: ast.stmt) -> str:
    if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
        return node.name
    if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
        return node.targets[0].id
    if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
        return node.target.id
    return ""


def _text(node: ast.stmt, lines: list[str]) -> str:
    first = min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", []))])
    while first > 1 and lines[first - 2].startswith("#"):  # the comment above belongs to it
        first -= 1
    return "\n".join(lines[first - 1 : node.end_lineno])


def _compute(served: Served) -> str:
    from grader.answers import compute, units

    question = served.question
    answer = compute.right_answer(question, served.parameters)
    right = units.show_value(answer, question["unit"])
    working = fill(question["working"], {**served.parameters, "answer": right}).rstrip()
    return working if "{answer}" in question["working"] else f"{working} = **{right}**"


def _derive(served: Served) -> str:
    steps = served.question["steps"]
    return "\n".join(
        f"{number}. {step['asks']}: `{step['target']}`" for number, step in enumerate(steps, 1)
    )


def _trace(served: Served) -> str:
    module, _, name = served.question["reference"].rpartition(".")
    right: dict[str, Any] = getattr(importlib.import_module(module), name)(**served.parameters)
    parts = []
    for part in served.question["parts"]:
        value = right[part["id"]]
        rows = value if value and isinstance(value[0], list) else [value]
        matrix = "\n".join("  ".join(f"{entry:>10.6g}" for entry in row) for row in rows)
        parts.append(f"{part['asks']}:\n\n```\n{matrix}\n```")
    return "\n\n".join(parts)


def _choice(served: Served) -> str:
    lines = []
    for letter, option in zip("abcdefghi", served.question["options"], strict=False):
        verdict = "**yes**" if option["correct"] else "no"
        reason = " ".join(served.text(option["explanation"]).split())
        lines.append(f"- {letter}) {verdict}: {reason}")
    return "\n".join(lines)


def _explain(served: Served) -> str:
    points = "\n".join(f"- {point['text']}" for point in served.question["key_points"])
    return f"{served.question['model_answer']}\n\nThe points that count:\n\n{points}"
