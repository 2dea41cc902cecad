"""Answers taken on the terminal, right under the problem."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from drills import serving, submit, workspace
from drills.app import App
from drills.errors import DrillError
from drills.screen.console import say

if TYPE_CHECKING:
    from drills.serving import Served
    from grader.report import Report

_WORDS = ("hint", "solution", "skip", "quit")


class Said(Exception):
    """The learner typed a command in place of an answer."""

    def __init__(self, word: str) -> None:
        super().__init__(word)
        self.word = word


def _line(prompt: str) -> str:
    """One line typed; the end of input is `quit`. Raises Said for a command word."""
    try:
        typed = input(prompt)
    except EOFError:
        print()
        raise Said("quit") from None
    word = typed.strip().lower()
    if word in _WORDS:
        raise Said(word)
    return typed


def _balanced(prompt: str) -> str:
    """A line, and those after it until its brackets close: a matrix may be pasted."""
    typed = _line(prompt)
    while typed.count("[") > typed.count("]"):
        typed += "\n" + _line(" … ")
    return typed


def read_answer(served: Served) -> str | None:
    """The answer as typed, one part a line; None where the learner left."""
    try:
        return _read(served, {})
    except Said as said:
        if said.word != "quit":
            say(f"Type it as a command: drill {said.word} {served.id}")
        return None


def _read_parts(served: Served, before: dict[str, str]) -> list[str]:
    read = _balanced if served.question["kind"] == "trace" else _line
    for number, part in enumerate(served.parts, 1):
        known = before.get(part["id"], "")
        print(f" {number}. {part['asks']}" + (f"   (Enter keeps {known})" if known else ""))
        before[part["id"]] = read(" > ").strip() or known
    return [before[part["id"]] for part in served.parts]


def _read(served: Served, before: dict[str, str]) -> str:
    """The answer; `before` holds the parts of the last try, and is kept up to date."""
    kind = served.question["kind"]
    if kind == "explain":
        say(" Your answer; an empty line ends it.")
        lines: list[str] = []
        while True:
            typed = _line(" > ")
            if not typed.strip() and any(lines):
                return "\n".join(lines)
            if typed.strip():
                lines.append(typed)
    if served.by_parts:
        return "\n".join(_read_parts(served, before))
    while True:
        typed = _balanced(" > ")
        if typed.strip():
            return typed


def review(served: Served, report: Report) -> Report:
    """Ask the learner about each point that no rule decides, and mark it so."""
    if report.verdict != "needs_review":
        return report
    open_parts = [part for part in report.parts if part.verdict == "needs_review"]
    if not open_parts:
        return report
    from rich.text import Text

    from drills.screen.console import out
    from drills.screen.markdown import wrap
    from drills.screen.safe import safe
    from grader import answers

    count = len(open_parts)
    print(f"\n {count} point{'s' if count > 1 else ''} for you to judge. Did your answer say:\n")
    said: dict[str, bool] = {}
    for part in open_parts:
        for line in wrap(Text(safe(part.asks or part.id)), out().width, " · "):
            out().print(line)
        reply = ""
        while reply not in ("y", "n", "yes", "no"):
            try:
                reply = input("   [y/n] ").strip().lower()
            except EOFError:
                print()
                return report
        said[part.id] = reply.startswith("y")
    return answers.apply_review(report, said, served.question)


def answer_loop(app: App, served: Served) -> None:
    """Until it is passed, skipped or left: read, grade, record, show.

    A wrong answer's report works the sum out, so the next try has new numbers.
    """
    from drills.screen.pages import print_outcome, print_problem

    before: dict[str, str] = {}
    print("\n answer below, or type:  hint · solution · skip · quit\n")
    while True:
        try:
            given = _read(served, before)
        except Said as said:
            if _obey(app, served, said.word):
                return
            print()
            continue
        report = review(served, submit.grade_text(app, served, given))
        outcome = submit.record(app, served.question, report, given)
        over = report.verdict == "passed" or outcome.rated is not None
        print_outcome(outcome, actions=over)
        if over:
            return
        if served.parameters and report.verdict != "invalid":
            served = serving.serve(served.question, serving.draw_seed())
            app.note(served.id, "shown", served.seed)
            print_problem(served, "again, with new numbers")
        print("\n again, or type:  hint · solution · skip · quit\n")


def _obey(app: App, served: Served, word: str) -> bool:
    """Carry out a command word; True where it ends the sitting at this terminal."""
    from drills.screen.pages import print_hint

    if word == "hint":
        from drills.commands.hint import next_hint

        number, text = next_hint(app, served)
        print_hint(served, number, text, in_place=True)
        return False
    if word == "solution":
        from drills.commands.solution import show_solution

        show_solution(app, served)
    elif word == "skip":
        from drills.commands.skip import skip

        skip(app, served.id)
    else:
        say(f"It stays open. Next: drill next, or drill answer {served.id}")
    return True


def code_loop(app: App, served: Served, starter: workspace.Starter) -> None:
    """Edit, grade, hint, skip, until it is passed or left. The grader stays warm meanwhile."""
    from drills.screen.pages import print_outcome
    from grader.session import Grader

    editor = os.environ.get("VISUAL") or os.environ.get("EDITOR")
    choices = {"g": "grade", "e": "edit", "h": "hint", "s": "skip", "q": "quit"}
    if not editor:
        del choices["e"]
    menu = " · ".join(f"[{key}]{word[1:]}" for key, word in choices.items())
    with Grader() as grader:
        grader.start()  # torch is imported while the learner reads
        while True:
            try:
                typed = input(f"\n {menu} > ").strip().lower()
            except EOFError:
                print()
                typed = "q"
            word = choices.get(typed[:1], "") if typed else ""
            if word == "edit" and editor:
                _edit(editor, str(starter.path))
            elif word == "grade":
                try:
                    source, name = workspace.read_source(str(starter.path))
                except DrillError as error:  # the learner is told, and stays
                    say(f" {error}")
                    continue
                report = submit.grade_source(
                    app, grader, served.question, source, serving.draw_seed(), name
                )
                text = source.decode("utf-8", "replace")
                outcome = submit.record(app, served.question, report, text)
                print_outcome(outcome)
                if outcome.report.verdict == "passed":
                    return
            elif word == "hint":
                _obey(app, served, "hint")
            elif word == "skip":
                _obey(app, served, "skip")
                return
            elif word == "quit":
                say("It stays open. Next: drill grade")
                return
            else:
                say(f" Type one of: {', '.join(choices.values())}.")


def _edit(editor: str, path: str) -> None:
    import shlex
    import subprocess

    try:
        subprocess.call([*shlex.split(editor), path])
    except (OSError, ValueError) as error:
        say(f"The editor {editor} did not start ({error}): set VISUAL or EDITOR.")
