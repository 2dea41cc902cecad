"""Code at the terminal: edit, grade, look at hints, until it is passed or left."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from drills import serving, submit, workspace
from drills.app import App
from drills.ask import Typist
from drills.editor import edit, editor
from drills.errors import DrillError
from drills.screen.console import say

if TYPE_CHECKING:
    from drills.serving import Served
    from grader.session import Grader

_CHOICES = {
    "g": ("grade", "[g]rade"),
    "e": ("edit", "[e]dit"),
    "h": ("hint", "[h]int"),
    "l": ("solution", "so[l]ution"),
    "s": ("skip", "[s]kip"),
    "q": ("quit", "[q]uit"),
}


def advice() -> str:
    """What to do with the file that was written."""
    return "e edits it, g grades it" if editor() else "edit it in another window; g grades it"


def code_loop(app: App, served: Served, starter: workspace.Starter) -> None:
    """The grader stays warm meanwhile: torch is imported while the learner reads."""
    from drills.in_place import obey
    from grader.session import Grader

    shown = {key: sign for key, (_, sign) in _CHOICES.items() if key != "e" or editor()}
    menu = " · ".join(shown.values())
    typist = Typist()
    with Grader() as grader:
        grader.start()
        while True:
            try:
                word = _word(typist, f"\n {menu} > ")
            except EOFError:
                print()
                word = "quit"
            if word == "edit":
                try:
                    edit(starter.path)
                except DrillError as error:
                    say(f" {error}")
            elif word == "grade":
                if _passes(app, grader, served, starter.path):
                    return
            elif word == "quit":
                say(f"It stays open. Next: drill grade {served.id}")
                return
            elif word:
                if obey(app, served, word):
                    return
            else:
                say(f" Type one of: {', '.join(_CHOICES[key][0] for key in shown)}.")


def _word(typist: Typist, prompt: str) -> str:
    """The choice that was typed, by its letter or in full; empty for anything else."""
    from drills.ask import Said

    try:
        typed = typist.block(prompt).strip().lower()
    except Said as said:
        return said.word
    if typed in _CHOICES:
        return _CHOICES[typed][0]
    return next((word for word, _ in _CHOICES.values() if word == typed), "")


def _passes(app: App, grader: Grader, served: Served, path: Path) -> bool:
    from drills.screen.pages import print_outcome

    question = served.question
    try:
        source, name = workspace.read_submission(question, workspace.near(path))
        with submit.spinner("grading"):
            report = submit.grade_source(app, grader, question, source, serving.draw_seed(), name)
    except DrillError as error:  # the learner is told, and stays
        say(f" {error}")
        return False
    outcome = submit.record(app, question, report, source.decode("utf-8", "replace"))
    passed = report.verdict == "passed"
    print_outcome(replace(outcome, path=workspace.near(path)), in_place=not passed)
    return passed
