"""drill next: what to do now."""

from __future__ import annotations

import click

from drills import choose, serving, workspace
from drills.app import App
from drills.errors import DrillError
from drills.options import json_option, kind_option, pass_app, topic_option
from drills.screen import console
from questions.kinds import CODE_KINDS


@click.command()
@topic_option
@kind_option
@json_option
@pass_app
def command(app: App, topic: str | None, kind: str | None, as_json: bool) -> int:
    """Serve what is unfinished or due, else what is new and builds on what you passed.

    On a terminal answers are taken in place. For code the starter file is written, and your
    own file is never overwritten.
    """
    choice = choose.choose(app, topic, kind)
    served, starter, problem = hand_out(app, choice)
    if as_json:
        data = serving.as_json(served)
        data |= {"reason": choice.reason, "note": choice.note}
        data["file"] = str(starter.path) if starter else None
        console.print_json(data)
        return 0
    _show(app, served, choice.note, starter, problem)
    return 0


def hand_out(
    app: App, choice: choose.Choice
) -> tuple[serving.Served, workspace.Starter | None, str]:
    """Serve and record; for code the starter file too, or why it could not be written."""
    question = choice.question
    question_id = question["id"]
    served = serving.serve(question, serving.seed_to_show(app, question_id))
    starter = None
    problem = ""
    if question["kind"] in CODE_KINDS:
        try:
            starter = workspace.write_starter(app, question, fresh=choice.reason != "unfinished")
        except DrillError as error:
            problem = str(error)
    detail: dict[str, object] = {"reason": choice.reason}
    if starter is not None:
        detail["path"] = str(starter.path)
    app.note(question_id, "served", served.seed, detail)
    return served, starter, problem


def _show(
    app: App,
    served: serving.Served,
    note: str,
    starter: workspace.Starter | None,
    problem: str,
) -> None:
    from drills.screen.pages import print_problem, print_starter

    in_person = console.on_terminal()
    if starter is not None:
        print_problem(served, note)
        if in_person:
            from drills import code_loop

            print_starter(starter, code_loop.advice())
            code_loop.code_loop(app, served, starter)
        else:
            print_starter(starter)
    elif problem:
        print_problem(served, note, action=f"drill start {served.id}")
        console.say(problem)
    elif in_person:
        from drills import in_place

        print_problem(served, note)
        in_place.answer_loop(app, served)
    else:
        print_problem(served, note, action=f"{serving.answer_command(app, served)} TEXT")
