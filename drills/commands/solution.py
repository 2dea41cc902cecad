"""drill solution: how it is done, at the price of the sitting."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from drills import devices, schedule, serving
from drills.app import App
from drills.options import id_argument, pass_app
from drills.screen import console

if TYPE_CHECKING:
    from grader.report import Device


@click.command()
@id_argument(required=False)
@click.option(
    "--device",
    type=click.Choice(devices.NAMES),
    default="cpu",
    help="Of a kernel: interpret and cuda show the one in Triton, cpu the one in plain torch.",
)
@click.option("--yes", is_flag=True, help="Do not ask first.")
@pass_app
def command(app: App, question_id: str | None, device: Device, yes: bool) -> int:
    """Show the commented solution of problem ID, or of the one served last.

    Before a pass this counts as giving up: the problem comes back tomorrow.
    """
    question = app.question_or_last(question_id)
    seed = serving.last_seed(app, question["id"])
    served = serving.serve(question, seed if seed is not None else serving.draw_seed())
    if yes or not console.on_terminal() or agreed(app, served):
        show_solution(app, served, device)
    return 0


def agreed(app: App, served: serving.Served) -> bool:
    """Ask before the solution costs the sitting; after its review it is free."""
    if app.sitting(served.id).rated:
        return True
    console.say(" Before a pass it counts as giving up: the problem comes back tomorrow.")
    return click.confirm(" Show the solution?", err=True)


def show_solution(app: App, served: serving.Served, device: Device = "cpu") -> None:
    """Print the solution, and rate the sitting Again unless it was rated already."""
    from drills.screen.pages import print_solution
    from drills.solutions import solution, triton_solution

    markdown, code = solution(served) if device == "cpu" else triton_solution(served)
    costs = not app.sitting(served.id).rated
    app.note(
        served.id,
        "solution",
        served.seed,
        rated=schedule.SAW_SOLUTION if costs else None,
    )
    print_solution(served, markdown, code)
