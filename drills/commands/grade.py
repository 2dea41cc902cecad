"""drill grade: a file against the reference."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import click

from drills import devices, serving, submit, workspace
from drills.app import App, Question
from drills.errors import GRADER_ERROR, NOT_PASSED, DrillError
from drills.options import (
    complete_cases,
    complete_files,
    complete_ids_or_files,
    json_option,
    pass_app,
    seed_option,
)
from drills.screen import console

if TYPE_CHECKING:
    from grader.report import Device


@click.command()
@click.argument("first", metavar="[ID]", required=False, shell_complete=complete_ids_or_files)
@click.argument("second", metavar="[FILE]", required=False, shell_complete=complete_files)
@seed_option
@click.option(
    "--device",
    type=click.Choice(devices.NAMES),
    help="Where to run a kernel; by itself, interpret for Triton, cuda for CUDA C++, else cpu.",
)
@click.option(
    "--case",
    "case_id",
    metavar="CASE",
    shell_complete=complete_cases,
    help="Only this case; nothing is recorded.",
)
@click.option("--reproduce", is_flag=True, help="Print the case as code in place of grading.")
@json_option
@pass_app
def command(
    app: App,
    first: str | None,
    second: str | None,
    seed: int | None,
    device: Device | None,
    case_id: str | None,
    reproduce: bool,
    as_json: bool,
) -> int:
    """Grade FILE as the answer to problem ID.

    Without ID the problem served last; without FILE the file that was written for it. FILE - is
    standard input. The cases are fresh each time; --seed repeats those of a report.
    """
    question, name = workspace.resolve(app, first, second)
    question_id = question["id"]
    submit.require_case(question, case_id)
    if reproduce:
        return _reproduce(app, question, seed, case_id, name)
    named = name is not None
    if name is None:
        found = workspace.find(app, question_id)
        if found is None:
            raise DrillError(f"There is no file for {question_id} yet: drill start {question_id}")
        name = workspace.near(found)
    try:
        source, shown = workspace.read_submission(question, name)
    except DrillError as error:
        if not as_json or error.code != NOT_PASSED:
            raise
        console.print_json(submit.ungraded(question, seed, "invalid", str(error)).to_json())
        return NOT_PASSED
    chosen = devices.choose(question, source, device)
    if chosen.lacking:
        return _not_run(question, seed, chosen, as_json)
    from grader.session import Grader

    seed = serving.draw_seed() if seed is None else seed
    with Grader() as grader, submit.spinner("grading"):
        report = submit.grade_source(
            app, grader, question, source, seed, shown, case_id, chosen.device
        )
    if case_id is None:
        outcome = submit.record(app, question, report, source.decode("utf-8", "replace"))
    else:
        outcome = submit.Outcome(report)
        console.say(submit.unrecorded(case_id))
    if as_json:
        console.print_json(report.to_json())
    else:
        from drills.screen.pages import print_outcome

        print_outcome(replace(outcome, path="" if name == "-" else name, named=named))
    return outcome.exit_code


def _reproduce(
    app: App, question: Question, seed: int | None, case_id: str | None, name: str | None
) -> int:
    attempts = app.store.attempts(question["id"])
    if seed is None and attempts:
        seed = attempts[-1].seed
    if seed is None:
        raise DrillError("Name the --seed of the report that is to be reproduced.")
    if name in (None, "-"):
        found = workspace.find(app, question["id"])
        name = workspace.near(found) if found else workspace.file_name(question["id"])
    from grader.session import Grader, GraderFault

    try:
        with Grader() as grader, submit.spinner("drawing the case"):
            case_id = case_id or question["cases"][0]["id"]
            code = grader.reproduce(question, seed, case_id, filename=name)
    except GraderFault as fault:
        raise DrillError(str(fault), GRADER_ERROR) from fault
    print(code.rstrip())
    return 0


def _not_run(question: Question, seed: int | None, chosen: devices.Choice, as_json: bool) -> int:
    summary = f"Not run: {chosen.lacking}."
    report = replace(submit.ungraded(question, seed, "not_run", summary), device=chosen.device)
    if as_json:
        console.print_json(report.to_json())
    else:
        console.say(f"{report.summary}\nNext: {chosen.remedy}")
    return NOT_PASSED
