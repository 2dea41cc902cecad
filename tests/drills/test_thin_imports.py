"""Serving must start at once: nothing heavy is imported where a learner waits for a problem."""

from __future__ import annotations

import pytest
from conftest import Drill, right_answer

HEAVY = ("torch", "numpy", "matplotlib", "sympy", "pydantic", "yaml", "jinja2", "scipy", "pygments")


def imported(drill: Drill, *arguments: str) -> set[str]:
    """The top-level packages that a command imports."""
    ran = drill(*arguments, PYTHONPROFILEIMPORTTIME="1")
    assert ran.code == 0, ran.err
    modules = [
        line.rpartition("|")[2].strip()
        for line in ran.err.splitlines()
        if line.startswith("import time:")
    ]
    assert "click" in modules
    return {module.partition(".")[0] for module in modules}


@pytest.mark.parametrize(
    "arguments",
    [
        ("next",),
        ("next", "--kind", "code"),
        ("next", "--json"),
        ("show", "kv-cache-size"),
        ("show", "attention"),
        ("list",),
        ("stats",),
        ("lab",),
        ("hint", "attention"),
        ("start", "attention"),
    ],
)
def test_serving_imports_nothing_heavy(drill: Drill, arguments: tuple[str, ...]):
    assert not imported(drill, *arguments) & set(HEAVY)


def test_a_number_is_graded_without_anything_heavy(drill: Drill):
    shown = drill("show", "kv-cache-size", "--json").json
    assert not imported(drill, "answer", "kv-cache-size", right_answer(shown)) & set(HEAVY)
