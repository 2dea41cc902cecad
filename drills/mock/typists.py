"""Where an interview's answers come from: a script, or a person at a plain terminal.

The full terminal, with the clock under the line that is typed, is `drills.mock.desk`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from drills.ask import Said, Typist
from drills.errors import USAGE, DrillError
from drills.mock.state import Item
from drills.mock.timer import Timer, shown

if TYPE_CHECKING:
    from drills.app import App

_SKIP = {"skip": True}
WORDS = ("hint", "skip", "pause", "quit", "end", "time", "repeat", "help", "run", "edit", "done")


class Left(Exception):
    """The person leaves; the interview waits."""


class Interviewee(Typist):
    """Reads lines, and tells the interview's commands from answers. `interactive` is whether there
    is a person who can be asked and kept waiting."""

    interactive = True
    _with_more: tuple[str, ...] = ()  # words that may be followed by something

    def __init__(self) -> None:
        self.pending: list[str] = []

    def asking(self, item: Item, kind: str) -> None:
        """Called before each question, of such a kind: what is read from now on answers it."""
        self.pending.clear()
        # "Run the softmax first" is no command where there is nothing to run.
        self._with_more = ("run",) if item.file else ()

    def alone(self, action: Callable[[], None]) -> None:
        """Run `action` with the terminal to itself."""
        action()

    def block(self, prompt: str) -> str:
        typed = self._input(prompt)
        word, _, rest = typed.strip().partition(" ")
        if word.lower() in WORDS and (not rest or word.lower() in self._with_more):
            raise Said(word.lower(), rest.strip())
        return typed.replace("\r\n", "\n").replace("\r", "\n").rstrip("\n")

    def _input(self, prompt: str) -> str:
        raise NotImplementedError


class Plain(Interviewee):
    """A terminal that can do no more than lines: the clock stands before each."""

    def __init__(self, timer: Timer) -> None:
        Typist.__init__(self)
        self.timer = timer

    def _input(self, prompt: str) -> str:
        warning = self.timer.tick()
        if warning:
            print(f" {warning}")
        try:
            return Typist._input(self, f" {shown(self.timer.left)}{prompt}")
        except EOFError:
            print()
            raise Said("quit") from None


class Scripted(Interviewee):
    """Lines of a stream, as they would be typed. At its end the interview ends."""

    interactive = False

    def __init__(self, stream: TextIO) -> None:
        super().__init__()
        self._stream = stream
        self._over = False

    def _input(self, prompt: str) -> str:
        line = self._stream.readline()
        if not line:
            if self._over:
                raise Said("end")
            self._over = True  # an explanation that was being given is whole
        line = line.rstrip("\n")
        print(f"{prompt}{line}")
        return line


class ByQuestion(Interviewee):
    """Answers by question id: "text", {"file": PATH}, {"skip": true}, or a list of them.

    What the interviewer asks depends on the answers; so these fit whatever is asked. A question
    without an answer is skipped.
    """

    interactive = False

    def __init__(self, answers: dict[str, Any], folder: Path) -> None:
        super().__init__()
        self._answers = answers
        self._folder = folder
        self._lines: Iterator[str] = iter(())

    def asking(self, item: Item, kind: str) -> None:
        super().asking(item, kind)
        self._lines = iter(self._script(self._answers.get(item.question), kind))

    def _script(self, answer: Any, kind: str) -> list[str]:
        lines = []
        for one in answer if isinstance(answer, list) else [answer]:
            if isinstance(one, dict) and "file" in one:
                lines.append(f"run {self._folder / str(one['file'])}")
            elif isinstance(one, str):
                lines += [*one.split("\n"), *([""] if kind == "explain" else [])]
        return lines

    def _input(self, prompt: str) -> str:
        line = next(self._lines, "skip")
        print(f"{prompt}{line}")
        return line


def read_answers(name: str, stdin: TextIO, app: App) -> Interviewee:
    """The answers of a file, by question where it is JSON, else line by line; - is `stdin`.

    Raises DrillError (exit 2) for a file that cannot be read, or answers what is in no bank.
    """
    if name == "-":
        return Scripted(stdin)
    path = Path(name)
    try:
        if path.suffix != ".json":
            return Scripted(path.open(encoding="utf-8"))
        answers = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise DrillError(f"{name} cannot be read ({error.strerror}).", USAGE) from error
    except ValueError as error:
        raise DrillError(f"{name} is no JSON ({error}): mend it there.", USAGE) from error
    if not isinstance(answers, dict):
        raise DrillError(f'{name} holds no object of answers: {{"QUESTION": "answer"}}.', USAGE)
    for question, answer in answers.items():
        app.question(question)
        for one in answer if isinstance(answer, list) else [answer]:
            file = one.get("file") if isinstance(one, dict) else None
            if not isinstance(one, str) and not isinstance(file, str) and one != _SKIP:
                raise DrillError(
                    f'{name}: the answer to {question} is no text, {{"file": PATH}} or '
                    f"{json.dumps(_SKIP)}, nor a list of them.",
                    USAGE,
                )
    return ByQuestion(answers, path.parent)
