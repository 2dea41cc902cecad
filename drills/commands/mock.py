"""drill mock: an interview with a clock, and its debrief."""

from __future__ import annotations

import os
import sys
from contextlib import nullcontext, redirect_stdout, suppress
from pathlib import Path
from typing import TYPE_CHECKING

import click

from drills import serving
from drills.app import App
from drills.errors import INTERRUPTED, PASSED, DrillError
from drills.mock import record as records
from drills.mock.record import Record
from drills.mock.roles import ROLES
from drills.options import json_option, pass_app, seed_number
from drills.screen import console

if TYPE_CHECKING:
    from drills.mock.debrief import Debrief
    from drills.mock.state import State

SHORTEST, LONGEST, USUAL = 15, 90, 45


@click.command()
@click.option("--role", type=click.Choice(list(ROLES)), default="inference", show_default=True)
@click.option(
    "--minutes",
    type=click.IntRange(SHORTEST, LONGEST),
    default=USUAL,
    show_default=True,
    help="How long it is to take.",
)
@click.option("--seed", metavar="N", callback=seed_number,
              help="The same seed and the same answers ask the same.")  # fmt: skip
@click.option("--answers", metavar="FILE", help="Take the answers from FILE; - is standard input.")
@click.option("--resume", is_flag=False, flag_value="", metavar="[ID]", help="Go on with one.")
@click.option("--debrief", "again", is_flag=False, flag_value="", metavar="[ID]",
              help="Show the debrief of one that is over.")  # fmt: skip
@click.option("--list", "listing", is_flag=True, help="All interviews.")
@click.option("--out", metavar="FILE", type=click.Path(path_type=Path),
              help="Where the debrief goes as a page (HTML).")  # fmt: skip
@click.option("--force", is_flag=True, help="Write the page over any file.")
@json_option
@pass_app
def command(
    app: App,
    role: str,
    minutes: int,
    seed: int | None,
    answers: str | None,
    resume: str | None,
    again: str | None,
    listing: bool,
    out: Path | None,
    force: bool,
    as_json: bool,
) -> int:
    """A mock interview: warm-up, derivation, code that grows, systems arithmetic, debugging.

    What is asked depends on your answers: follow-ups probe what was missed, and the level rises
    and falls. It can be left at any time and gone on with (--resume). At the end come scores with
    their evidence, what a hiring loop would likely say, and what to drill next.

    FILE holds lines as you would type them, or, where it ends in .json, an object of answers by
    question id: text, a list of tries, or {"file": "mine.py"}.
    """
    if listing:
        return _list(app, as_json)
    if out is not None:
        from drills import html

        html.check(out, "mock", force)  # before the interview, not after it
    if again is not None:
        ended = [one for one in records.interviews(app) if one.ended]
        return _tell(app, records.choose(again, ended, "finished"), out, force, as_json)
    from drills.mock import hold
    from drills.mock.typists import read_answers

    script = None if answers is None else read_answers(answers, sys.stdin, app)
    app.store.require_recording("mock")
    unfinished = records.unfinished(app)
    waiting = [one for one in unfinished if not Record(app, one.id).elsewhere]
    if resume is not None:
        among = unfinished if resume else waiting or unfinished
        state = records.choose(resume, among, "unfinished")
    elif waiting and script is None and console.on_terminal() and _goes_on(waiting[-1]):
        state = waiting[-1]
    else:
        record = Record(app, os.urandom(4).hex())
        record.began(role, minutes, serving.draw_seed() if seed is None else seed)
        state = record.state()
    code = PASSED
    try:
        with (
            Record(app, state.id).held(),
            redirect_stdout(sys.stderr) if as_json else nullcontext(),
        ):
            over = hold.hold(app, state, script)
    except KeyboardInterrupt:
        over, code = False, INTERRUPTED
    state = Record(app, state.id).state()
    if not over:
        from drills.screen.debrief import print_left

        print_left(state)
        return code
    return _tell(app, state, out, force, as_json)


def _goes_on(state: State) -> bool:
    from drills.mock.timer import shown

    left = shown(state.minutes * 60 - state.used)
    waits = "waits for its debrief" if state.ended else f"waits with {left} on the clock"
    told = f" An interview ({state.role}) {waits}. Go on with it?"
    return click.confirm(told, default=True, err=True)


def _list(app: App, as_json: bool) -> int:
    found = records.interviews(app)
    if as_json:
        from drills import clock

        rows = [
            {
                "id": one.id,
                "began": clock.to_text(one.began),
                "role": one.role,
                "minutes": one.minutes,
                "seed": one.seed,
                "asked": len(one.items),
                "seconds": one.used,
                "ended": one.ended,
            }
            for one in found
        ]
        console.print_json({"format": 1, "interviews": rows})
        return PASSED
    from drills.screen.debrief import print_interviews

    print_interviews(found)
    return PASSED


def _tell(app: App, state: State, out: Path | None, force: bool, as_json: bool) -> int:
    from drills.mock import debrief
    from drills.mock.page import write

    found = debrief.debrief(app, state)
    page = out
    if not state.debriefed:
        debrief.remember(app, found)
        found = debrief.debrief(app, state)  # with what was put on the schedule
        page = out or default_page(found)
    if page is not None:
        try:
            write(found, page, force)
        except DrillError as error:
            if out is not None:
                raise
            console.say(f"{error} Another place: drill mock --debrief {found.id} --out FILE")
            page = None
    if as_json:
        console.print_json({**debrief.as_json(found), "page": str(page) if page else None})
        return PASSED
    from drills.screen.debrief import print_debrief

    print_debrief(found, page)
    return PASSED


def default_page(found: Debrief) -> Path:
    from drills import workspace

    name = f"drill-mock-{found.began.astimezone():%Y-%m-%d}-{found.id}.html"
    folder = workspace.folder()
    with suppress(OSError):  # writing the page tells of it
        folder.mkdir(parents=True, exist_ok=True)
    return folder / name
