"""drill watch: grade on every save."""

from __future__ import annotations

from pathlib import Path

import click

from drills import serving, workspace
from drills.app import App
from drills.errors import DrillError
from drills.options import complete_ids, json_option, pass_app
from drills.screen import console


@click.command()
@click.argument("first", metavar="[ID]", required=False, shell_complete=complete_ids)
@click.argument("second", metavar="[FILE]", required=False)
@json_option
@pass_app
def command(app: App, first: str | None, second: str | None, as_json: bool) -> int:
    """Grade FILE as the answer to problem ID each time it is saved, until q or Ctrl-C.

    Without ID the problem served last; without FILE the file that was written for it, or its
    starter, written now. --json prints one report a line.
    """
    question, name = workspace.resolve(app, first, second)
    question_id = question["id"]
    if name == "-":
        raise DrillError("Standard input cannot be watched: name a file.")
    if name is not None and not Path(name).exists():
        raise DrillError(f"There is no file {name}: drill start {question_id} writes one.")
    from grader.session import Grader

    with Grader() as grader:
        grader.start()  # torch is imported while the learner reads
        seed = serving.last_seed(app, question_id)
        served = serving.serve(question, serving.draw_seed() if seed is None else seed)
        path = Path(name).absolute() if name else workspace.find(app, question_id)
        starter = workspace.Starter(path, "kept") if path else workspace.begin(app, question)
        if console.on_terminal() and not as_json:
            from drills.screen.pages import print_problem, print_starter

            print_problem(served)
            print_starter(starter, "each save is graded")
            print(flush=True)
        else:
            console.say(
                f"Each save of {workspace.near(starter.path)} is graded as {question_id}, "
                "until this is ended (Ctrl-C)."
            )
        from drills.watching.loop import Watching

        Watching(app, served, starter.path, as_json).run(grader)
    return 0
