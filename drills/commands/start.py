"""drill start: the starter file of a code problem."""

from __future__ import annotations

import sys

import click

from drills import editor, workspace
from drills.app import App
from drills.errors import DrillError
from drills.options import id_argument, pass_app
from questions.kinds import CODE_KINDS


@click.command()
@id_argument(required=True)
@click.option("--force", is_flag=True, help="Write it anew; the old file becomes .bak-N.")
@click.option("--edit", is_flag=True, help="Open it in VISUAL, else EDITOR.")
@pass_app
def command(app: App, question_id: str, force: bool, edit: bool) -> int:
    """Write the starter file of the code problem ID into the workspace.

    The workspace is DRILL_WORKSPACE, else the current folder, in a checkout of drill its
    workspace/ folder. Your file is never overwritten.
    """
    question = app.question(question_id)
    if question["kind"] not in CODE_KINDS:
        raise DrillError(f"{question_id} needs no file: drill answer {question_id}")
    if edit:
        editor.require()  # said before anything is written
    starter = workspace.begin(app, question, force)
    from drills.screen.pages import print_starter

    print_starter(starter, read=f"drill show {question_id}")
    if edit:
        sys.stdout.flush()
        editor.edit(starter.path)
    return 0
