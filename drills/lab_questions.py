"""A lab's questions: asked on a terminal, or answered by a file with one answer a line."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from drills.ask import Said, Typist
from drills.errors import DrillError
from drills.screen.console import say
from drills.screen.measured import print_graded, print_question

_LARGEST = 64 * 1024  # bytes
Graded = dict[str, Any]


def read_answers(name: str, wanted: int) -> list[str]:
    """The lines of the file `name`, `-` for standard input; empty ones do not count.

    Raises DrillError (exit 2) where it cannot be read, or has not `wanted` answers.
    """
    try:
        if name == "-":
            data = sys.stdin.buffer.read(_LARGEST)
        else:
            with Path(name).open("rb") as file:
                data = file.read(_LARGEST)
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise DrillError(f"{name} is not text in UTF-8.") from error
    except OSError as error:
        raise DrillError(f"{name} cannot be read ({error.strerror}).") from error
    answers = [line.strip() for line in text.splitlines() if line.strip()]
    if len(answers) != wanted:
        raise DrillError(f"{wanted} answers are needed, one a line, and there are {len(answers)}.")
    return answers


def grade_all(
    questions: Sequence[dict[str, Any]], answers: Sequence[str], note: Callable[[Graded], None]
) -> list[Graded]:
    """Each answer held against its question; `note` hears of each."""
    from grader.labs import asked

    graded = [asked.grade(q, text) for q, text in zip(questions, answers, strict=True)]
    for one in graded:
        note(one)
    return graded


def ask(questions: Sequence[dict[str, Any]], note: Callable[[Graded], None]) -> list[Graded]:
    """Ask on the terminal, telling after each answer how it was; `quit` leaves the rest out.
    `note` hears of each answer before it is told."""
    from grader.labs import asked

    print("\n Questions on what was measured; skip or quit leaves them out.")
    graded: list[Graded] = []
    typist = Typist()
    for place, question in enumerate(questions, 1):
        print_question(question, place, len(questions))
        try:
            typed = _answer(typist, question)
        except Said:  # quit
            break
        if typed:
            graded.append(asked.grade(question, typed))
            note(graded[-1])
            print_graded(graded[-1])
    return graded


def _answer(typist: Typist, question: dict[str, Any]) -> str:
    """What is typed, once it can be an answer; "" where the question is skipped. Raises Said for
    quit, and at the end of input."""
    from grader.answers.reading import Unreadable
    from grader.labs import asked

    while True:
        try:
            typed = typist.line(" > ").strip()
        except Said as said:
            if said.word == "quit":
                raise
            if said.word == "skip":
                return ""
            say(" The table and the plots hold what is needed.")
            continue
        if not typed:
            continue
        try:
            asked.check(question, typed)
        except Unreadable as error:
            typist.pending.clear()
            say(f" {error}")
            continue
        return typed
