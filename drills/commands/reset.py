"""drill reset: a fresh start for one problem."""

from __future__ import annotations

import click

from drills import workspace
from drills.app import App
from drills.options import id_argument, pass_app
from drills.screen.console import say
from questions.kinds import CODE_KINDS


@click.command()
@id_argument(required=True)
@pass_app
def command(app: App, question_id: str) -> int:
    """Begin problem ID anew: a fresh starter and schedule.

    Your old file becomes .bak-N, and the past attempts stay.
    """
    question = app.question(question_id)
    app.store.require_recording("reset")
    has_file = question["kind"] in CODE_KINDS and workspace.find(app, question_id) is not None
    starter = workspace.write_starter(app, question, force=True) if has_file else None
    app.note(question_id, "reset", detail={"path": str(starter.path)} if starter else {})
    say(f"{question_id} begins anew; the past attempts stay.")
    if starter is not None:
        from drills.screen.pages import print_starter

        print_starter(starter)
    else:
        say(f"Next: drill show {question_id}")
    return 0
