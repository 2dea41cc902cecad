"""For tests of the judge alone: an answer's text run in this process, with a worker's methods."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any

from grader.isolation.calls import Call, Outcome
from grader.judging.simulated import Simulated


class InProcess:
    """Loads the text afresh for each worker, as a fresh process does."""

    def __init__(self, source: str, entry: str, framework: str = "torch") -> None:
        self.source, self.entry, self.framework = source, entry, framework
        self.simulated: Simulated | None = None

    def __enter__(self) -> InProcess:
        return self

    def __exit__(self, *exc: object) -> None:
        return None

    def load(self) -> Outcome:
        module = sys.modules["submission"] = ModuleType("submission")  # dataclasses look there
        namespace: dict[str, Any] = module.__dict__
        try:
            exec(compile(self.source, "answer.py", "exec"), namespace)
        except SyntaxError as error:
            return Outcome("syntax", error=str(error.msg), line=error.lineno)
        if self.entry not in namespace:
            return Outcome("missing")
        self.simulated = Simulated(namespace[self.entry], self.framework)
        return Outcome("returned")

    def call(self, call: Call) -> Outcome:
        assert self.simulated is not None
        return self.simulated.call(call)


def factory(question: dict[str, Any], source: str) -> Callable[[], InProcess]:
    return lambda: InProcess(source, question["entry"], question["framework"])
