"""drill show: one problem."""

from __future__ import annotations

import click

from drills import serving
from drills.app import App
from drills.options import id_argument, json_option, pass_app, seed_option
from questions.kinds import CODE_KINDS


@click.command()
@id_argument(required=False)
@seed_option
@json_option
@pass_app
def command(app: App, question_id: str | None, seed: int | None, as_json: bool) -> int:
    """Show problem ID, or the one served last.

    The numbers of a problem come from its seed. While you are at work on it they stay the same;
    --seed chooses them.
    """
    question = app.question_or_last(question_id)
    if seed is None:
        seed = serving.seed_to_show(app, question["id"])
    served = serving.serve(question, seed)
    app.note(served.id, "shown", seed)
    if as_json:
        from drills.screen.console import print_json

        print_json(serving.as_json(served))
        return 0
    from drills.screen.pages import print_problem

    code = question["kind"] in CODE_KINDS
    action = f"drill start {served.id}" if code else serving.answer_command(app, served)
    print_problem(served, action=action)
    return 0
