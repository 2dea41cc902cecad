"""Problems in a notebook: `%load_ext drills.jupyter`, `%drill next`, and `%%drill ID` over a cell.

A cell is graded as `drill grade` and `drill answer` grade: shut in, in a process of its own, and
recorded in the same database. It is not run in the notebook, unless it asks for that (`--run`),
and so it sees nothing of the notebook: its imports belong into it.
"""

from __future__ import annotations

import atexit
import inspect
import os
import shlex
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from drills import cli, devices, serving, submit, workspace
from drills.app import App, Question
from drills.errors import GRADER_ERROR, INTERRUPTED, UNUSABLE, USAGE, DrillError
from drills.options import id_argument, seed_option
from drills.screen.console import say
from drills.screen.notebook import Page, printed
from grader.session import Grader
from questions.kinds import CODE_KINDS

if TYPE_CHECKING:
    from grader.report import Device, Report

# As in a terminal; the other verbs ask, draw or run for long, which a terminal does better.
AS_IN_A_TERMINAL = (
    *("next", "show", "start", "list", "grade", "answer", "hint", "solution"),
    *("skip", "reset", "stats", "plan", "doctor"),
)
_CELL = "cell.py"  # what a report calls the file
_STOPPED = (USAGE, GRADER_ERROR, UNUSABLE, INTERRUPTED)


class Stopped(Exception):
    """Ends a cell, and a run of all cells, with one sentence in place of a traceback."""

    def _render_traceback_(self) -> list[str]:
        return [str(self)]


@click.command("%%drill")
@id_argument(required=True)
@seed_option
@click.option("--case", "case_id", metavar="CASE", help="Only this case; nothing is recorded.")
@click.option("--device", type=click.Choice(devices.NAMES), help="Where to run a kernel.")
@click.option("--no-record", is_flag=True, help="Only grade; the schedule does not hear of it.")
@click.option("--run", is_flag=True, help="Then run the cell in the notebook too.")
@click.option("--made", metavar="YN", help="Your own review: y or n for each open point, in order.")
def _cell_options(**options: Any) -> dict[str, Any]:
    """Grade the cell below as the answer to problem ID."""
    return options


class Notebook:
    """The magics of one kernel, and the grader that stays warm for them until it ends."""

    def __init__(self, shell: Any) -> None:
        self.shell = shell
        self.grader = Grader()

    def line(self, line: str) -> None:
        """%drill next [--topic T] [--kind K]   what is due, else what is new, and a cell for it
        %drill start ID, show ID             a problem, with a cell for it or without
        %drill hint, solution, skip [ID]     as in a terminal, and so are list, stats, plan, reset,
                                             grade, answer, doctor; VERB --help says more
        %%drill ID                           over a cell: grades it; %%drill ID --help says more
        """
        words = _words(line)
        if not words:
            self._show(lambda page: print(inspect.cleandoc(Notebook.line.__doc__ or "")))
            return
        verb, *rest = words
        if verb == "next" and "--json" not in rest:
            self._show(lambda page: self._next(rest))
        elif verb in ("start", "show") and "--json" not in rest:
            self._show(lambda page: self._open(verb, rest))
        elif verb in AS_IN_A_TERMINAL or verb not in cli.VERBS:
            self._show(lambda page: cli.run(words))
        else:
            raise Stopped(f"drill {verb} needs a terminal: type it there.")

    def cell(self, line: str, cell: str) -> None:
        """%%drill ID [--seed N] [--case CASE] [--device D] [--no-record] [--run | --made YN]

        Grades the cell as the answer to problem ID. It runs in a process of its own and sees
        nothing of the notebook; --run also runs it in the notebook, after it was graded. --made
        settles the points of an explanation that no rule decides: did it make them, y or n each?
        """
        words = _words(line)
        page = self._show(lambda page: self._grade(page, words, cell))
        if page.report is not None and "--run" in words:
            self.shell.run_cell(cell)

    def _show(self, work: Callable[[Page], object]) -> Page:
        """Display, and return, what `work` prints. Raises Stopped where it could not be done."""
        with printed() as page:
            code = cli.guarded(lambda: work(page))
        if code == INTERRUPTED:
            raise Stopped("Interrupted: nothing was recorded.")
        if code in _STOPPED:
            raise Stopped(repr(page).strip("\n"))
        from IPython.display import display

        display(page)
        return page

    def _next(self, words: list[str]) -> None:
        from drills import choose
        from drills.commands.next import command

        with closing(_app()) as app:
            params = command.make_context("%drill next", words, obj=app).params
            choice = choose.choose(app, params["topic"], params["kind"])
            detail: dict[str, object] = {"reason": choice.reason}
            self._serve(app, choice.question, "served", note=choice.note, detail=detail)

    def _open(self, verb: str, words: list[str]) -> None:
        from drills.commands.show import command

        with closing(_app()) as app:
            params = command.make_context(f"%drill {verb}", words, obj=app).params
            question = app.question_or_last(params["question_id"])
            self._serve(app, question, "shown", params["seed"], cell=verb == "start")

    def _serve(
        self,
        app: App,
        question: Question,
        event: str,
        seed: int | None = None,
        note: str = "",
        detail: dict[str, object] | None = None,
        cell: bool = True,
    ) -> None:
        """Show the problem, and open a cell for its answer."""
        from drills.screen.pages import print_problem

        if seed is None:
            seed = serving.seed_to_show(app, question["id"])
        served = serving.serve(question, seed)
        app.note(served.id, event, seed, detail)
        print_problem(served, note, action=f"%%drill {served.id}")
        if cell:
            starter = f"\n{question['starter']}" if question["kind"] in CODE_KINDS else ""
            self.shell.set_next_input(f"%%drill {served.id}\n{starter}", replace=False)

    def _grade(self, page: Page, words: list[str], cell: str) -> int:
        options = _cell_options.main(words, "%%drill", standalone_mode=False)
        if not isinstance(options, dict):  # it was --help
            return 0
        from drills.screen.pages import print_outcome

        with closing(_app()) as app:
            question = app.question(options["question_id"])
            if question["kind"] in CODE_KINDS:
                outcome = self._grade_code(app, question, options, cell)
            else:
                outcome = _grade_answer(app, question, options, cell)
            told = _for_notebook(outcome.report, question, options)
            outcome = replace(outcome, report=told, again=f"%%drill {question['id']}")
            page.report = told.to_json()
            print_outcome(outcome)
        if outcome.report.verdict == "needs_review":
            print(
                " or here   add --made and a y or an n for each open point, in order: is it made?"
            )
        return outcome.exit_code

    def _grade_code(
        self, app: App, question: Question, options: dict[str, Any], cell: str
    ) -> submit.Outcome:
        _refuse(options, ("made",), f"{question['id']} is answered by code")
        case: str | None = options["case_id"]
        device: Device | None = options["device"]
        submit.require_case(question, case)
        data = cell.encode("utf-8", "surrogatepass")
        # The first line of the cell is the magic's: now lines have the numbers that it shows.
        source = b"\n" + workspace.checked_submission(question, data, "The cell")
        seed = serving.draw_seed() if options["seed"] is None else options["seed"]
        report = submit.grade_source(app, self.grader, question, source, seed, _CELL, case, device)
        if options["no_record"] or case is not None:
            say(submit.unrecorded(case))
            return submit.Outcome(report)
        return submit.record(app, question, report, data.decode("utf-8", "replace"))


def _grade_answer(
    app: App, question: Question, options: dict[str, Any], cell: str
) -> submit.Outcome:
    _refuse(options, ("case_id", "device", "run"), f"{question['id']} is not answered by code")
    served = serving.serve_to_answer(app, question, options["seed"])
    given = submit.read_answer(cell.strip("\n").encode("utf-8", "surrogatepass"), served)
    report = _reviewed(submit.grade_text(app, served, given), options["made"], question)
    if options["no_record"]:
        say(submit.unrecorded(None))
        return submit.Outcome(report)
    return submit.record(app, question, report, given)


def _refuse(options: dict[str, Any], names: tuple[str, ...], why: str) -> None:
    for name in names:
        if options[name]:
            raise DrillError(f"{why}: leave out --{name.removesuffix('_id')}.")


def _reviewed(report: Report, made: str | None, question: Question) -> Report:
    """`report`, its open points settled by the letters of `made`."""
    if made is None:
        return report
    from grader import answers

    points = [part.id for part in report.parts if part.verdict == "needs_review"]
    if len(made) != len(points) or set(made) - set("yn"):
        raise DrillError(f"Points left open: {len(points)}; --made takes a y or an n for each.")
    said = {point: letter == "y" for point, letter in zip(points, made, strict=True)}
    return answers.apply_review(report, said, question)


def _for_notebook(report: Report, question: Question, options: dict[str, Any]) -> Report:
    """`report`, its program to paste calling the cell's function where it is: in the notebook."""
    sample = report.sample
    if sample is None or not sample.code:
        return report
    fetch = f"from {Path(_CELL).stem} import {question['entry']}"
    first, *rest = sample.code
    first = first.removesuffix(fetch).removesuffix("; ")
    if not options["run"]:
        first += f"{'  ' if first else ''}# after %%drill {question['id']} --run"
    code = tuple(line for line in (first, *rest) if line)
    return replace(report, sample=replace(sample, code=code))


def _words(line: str) -> list[str]:
    try:
        return shlex.split(line)
    except ValueError as error:
        raise Stopped(f"The line cannot be read: {error}.") from None


def _app() -> App:
    """For one magic: a kernel lives long, and meanwhile the bank and the database may change."""
    bank = os.environ.get("DRILL_BANK")
    return App(Path(bank).expanduser() if bank else None)


def load_ipython_extension(shell: Any) -> None:
    """What `%load_ext drills.jupyter` calls."""
    notebook = Notebook(shell)
    shell.register_magic_function(notebook.line, "line", "drill")
    shell.register_magic_function(notebook.cell, "cell", "drill")
    atexit.register(notebook.grader.close)


def unload_ipython_extension(shell: Any) -> None:
    """What `%unload_ext drills.jupyter` calls: the grader's processes end."""
    magics = shell.magics_manager.magics
    del magics["line"]["drill"]
    notebook: Notebook = magics["cell"].pop("drill").__self__
    notebook.grader.close()
    atexit.unregister(notebook.grader.close)
