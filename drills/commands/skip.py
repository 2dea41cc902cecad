"""drill skip: not today."""

from __future__ import annotations

import click

from drills import schedule
from drills.app import App
from drills.options import id_argument, pass_app
from drills.screen.console import say


@click.command()
@id_argument(required=False)
@pass_app
def command(app: App, question_id: str | None) -> int:
    """Put problem ID, or the one served last, off until tomorrow.

    After failed tries this counts as giving up: the problem comes back soon.
    """
    app.store.require_recording("skip")
    skip(app, app.question_or_last(question_id)["id"])
    return 0


def skip(app: App, question_id: str) -> None:
    sitting = app.sitting(question_id)
    gave_up = sitting.failures > 0 and not sitting.rated
    app.note(question_id, "skipped", rated=schedule.GAVE_UP if gave_up else None)
    say(f"{question_id} is put off until tomorrow.\nNext: drill next")
