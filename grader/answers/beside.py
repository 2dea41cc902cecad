"""Answers judged in a process beside this one, which stays free for a person who types.

The process imports sympy once, speaks one line of JSON each way, and ends with its parent.
"""

from __future__ import annotations

import json
import subprocess
import sys
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from grader import answers

if TYPE_CHECKING:
    from grader.report import Report

_ROOT = Path(__file__).resolve().parents[2]
# The current folder, which may hold a sympy.py of the learner's, is no place to import from.
_START = "import sys; sys.path[0] = sys.argv[1]; from grader.answers import beside; beside.serve()"


class Beside:
    """Judges as `grader.answers` does. Use as a context manager; the process starts with the
    first question to it, or `start`, and anew where it died."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[str] | None = None

    def __enter__(self) -> Beside:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def start(self) -> None:
        """Begin to import what judging takes; does nothing when that was done."""
        if self._process is not None and self._process.poll() is None:
            return
        self.close()
        self._process = subprocess.Popen(
            [sys.executable, "-c", _START, str(_ROOT)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            encoding="utf-8",
            start_new_session=True,  # Ctrl-C is not meant for it
        )

    def close(self) -> None:
        """End the process. Safe to call twice."""
        if self._process is None:
            return
        process, self._process = self._process, None
        assert process.stdin is not None
        assert process.stdout is not None
        process.kill()  # it holds nothing that could be lost
        process.wait()
        process.stdout.close()
        with suppress(BrokenPipeError):  # what it was not told any more
            process.stdin.close()

    def grade_answer(
        self, question: dict[str, Any], text: str, seed: int, mistakes: dict[str, Any]
    ) -> Report:
        """As `grader.answers.grade_answer`; a fault of ours is a report that says so."""
        from grader.report import Report

        try:
            return Report.from_json(self._ask("grade", question, text, seed, mistakes))
        except (OSError, ValueError) as fault:
            return Report(
                question=question["id"],
                kind=question["kind"],
                verdict="grader_error",
                score=0.0,
                seed=seed,
                summary=f"Your answer could not be judged ({fault}); the fault is ours. Try again.",
                revision=question.get("revision", 1),
            )

    def unreadable(self, question: dict[str, Any], number: int, text: str) -> str:
        """As `grader.answers.unreadable`; "" where that cannot be found out."""
        try:
            return str(self._ask("unreadable", question, number, text))
        except (OSError, ValueError):
            return ""

    def _ask(self, operation: str, *arguments: Any) -> Any:
        """Raises OSError where the process died, ValueError where it failed."""
        self.start()
        assert self._process is not None
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        line = ""
        with suppress(BrokenPipeError):
            self._process.stdin.write(json.dumps([operation, *arguments]) + "\n")
            self._process.stdin.flush()
            line = self._process.stdout.readline()
        if not line:
            self.close()
            raise OSError("the process that judges answers died")
        answer = json.loads(line)
        if "error" in answer:
            raise ValueError(answer["error"])
        return answer["result"]


def serve() -> None:
    """The process: a line for each line, until its standard input ends."""
    speak, sys.stdout = sys.stdout, sys.stderr  # what a library prints is no answer
    for kind in answers.KINDS:
        import_module(f"grader.answers.{kind}")
    for line in sys.stdin:
        try:
            operation, *arguments = json.loads(line)
            result: Any = (
                answers.grade_answer(*arguments).to_json()
                if operation == "grade"
                else answers.unreadable(*arguments)
            )
            answer = {"result": result}
        except Exception as error:
            answer = {"error": f"{type(error).__name__}: {error}"}
        speak.write(json.dumps(answer) + "\n")
        speak.flush()
