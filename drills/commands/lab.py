"""drill lab: a measurement on this machine, with its plots and questions."""

from __future__ import annotations

from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Any

import click

from drills import lab_questions, lab_record, lab_runs, serving, workspace
from drills.app import App, near_misses
from drills.errors import GRADER_ERROR, INTERRUPTED, NOT_PASSED, PASSED, DrillError
from drills.options import complete_files, json_option, pass_app, seed_option
from drills.screen import console
from drills.screen.safe import one_line, safe
from grader.labs import LABS, QUESTIONS

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    from drills.lab_runs import Run
    from grader.labs.document import Result


def _complete_names(
    _ctx: click.Context, _param: click.Parameter, typed: str
) -> list[CompletionItem]:
    """Labs that begin with what was typed, with what they measure."""
    from click.shell_completion import CompletionItem

    return [CompletionItem(n, help=lab.about) for n, lab in LABS.items() if n.startswith(typed)]


@click.command()
@click.argument("name", metavar="[NAME]", required=False, shell_complete=_complete_names)
@click.argument("file", metavar="[FILE]", required=False, shell_complete=complete_files)
@click.option("--out", metavar="DIR", type=click.Path(path_type=Path), help="Where results go.")
@click.option("--from", "earlier", metavar="RUN", help="Show and ask about a run of before.")
@click.option(
    "--answers",
    metavar="FILE",
    shell_complete=complete_files,
    help="Answers, one a line; - is standard input.",
)
@click.option("--quick", is_flag=True, help="Small sizes: seconds, and rough numbers.")
@seed_option
@json_option
@pass_app
def command(
    app: App,
    name: str | None,
    file: str | None,
    out: Path | None,
    earlier: str | None,
    answers: str | None,
    quick: bool,
    seed: int | None,
    as_json: bool,
) -> int:
    """Measure on this machine, draw what came of it, and ask about it. Without NAME: the list.

    FILE holds a function of yours that is measured in place of the reference: `attention` for
    quadratic and prefill-decode, `online_softmax` for online-softmax-error. Pictures (PNG, SVG)
    and numbers (JSON) go to a new folder under DRILL_HOME/labs, or to --out DIR, over those of an
    earlier run there. RUN is the name of such a folder, or its JSON. Exit 1 where an answer is
    wrong. Leave the machine alone meanwhile.
    """
    if name is None and earlier is None:
        if file or out or answers or quick or seed is not None:
            raise DrillError("Which lab? drill lab lists them.")
        return _list(app, as_json)
    if name is not None and name not in LABS:
        near = near_misses(name, list(LABS))
        told = f"Did you mean {near[0]}?" if near else "drill lab lists them."
        raise DrillError(f'There is no lab "{one_line(name, 40)}". {told}')
    given = None if answers is None else lab_questions.read_answers(answers, QUESTIONS)
    files: list[Path] = []
    if earlier is not None:
        if file or out or quick or seed is not None:
            raise DrillError(
                "--from takes a run as it was measured: leave out FILE, --out, --quick and --seed."
            )
        run, result = lab_runs.read(earlier, name)
    else:
        assert name is not None
        seed = serving.draw_seed() if seed is None else seed
        run, result, files = _measure(app, name, file, out, quick, seed)
    if as_json:
        graded = _grade(app, run, result, given)
        document = {**lab_runs.document(run, result), "answers": graded}
        console.print_json({**document, "files": [str(path) for path in files]})
        return _exit_code(graded)
    where = earlier or lab_runs.short(files[-1].parent)
    return _show(app, run, result, files, given, where)


def _list(app: App, as_json: bool) -> int:
    standings = {name: lab_record.standing(app, name) for name in LABS}
    if as_json:
        from drills import clock

        rows = [
            {
                "name": name,
                "about": lab.about,
                "entry": lab.entry,
                "runs": standings[name].runs,
                "last_run": None if (at := standings[name].last) is None else clock.to_text(at),
                "questions": QUESTIONS,
                "right": standings[name].right or 0,
            }
            for name, lab in LABS.items()
        ]
        console.print_json({"format": 1, "labs": rows})
        return PASSED
    from drills.screen.measured import print_labs

    print_labs(LABS, standings, QUESTIONS)
    return PASSED


def _measure(
    app: App, name: str, file: str | None, out: Path | None, quick: bool, seed: int
) -> tuple[Run, Result, list[Path]]:
    """Run the lab, write what came of it, and remember that it was run."""
    from grader.labs import results

    source, shown = _source(name, file)
    folder = lab_runs.Folder(name, out)
    try:
        found = _numbers(name, seed, quick, source, shown)
    except BaseException as error:
        folder.abandon()
        if isinstance(error, KeyboardInterrupt):
            raise _interrupted("Nothing was kept") from error
        raise
    run = lab_runs.new(name, None if source is None else shown, seed, quick, found)
    result = results.result(run)
    numbers = folder.write(run, result)
    lab_record.note_run(app, run, folder.path)
    return run, result, [*_draw(folder, run, result), numbers]


def _draw(folder: lab_runs.Folder, run: Run, result: Result) -> list[Path]:
    """The pictures; a run without them is whole."""
    try:
        return folder.draw(run, result)
    except ImportError as error:
        console.say(
            f"No pictures were drawn, since matplotlib cannot be imported ({error}); the numbers"
            " were written. For pictures of the next run: pip install matplotlib"
        )
        return []
    except KeyboardInterrupt as error:
        raise _interrupted("The numbers are kept", lab_runs.short(folder.path)) from error


def _interrupted(kept: str, where: str = "") -> DrillError:
    """Below what was typed; `where` is what --from knows the run by."""
    action = f": drill lab --from {quote(safe(where))}" if where else "."
    return DrillError(f"\nStopped. {kept}{action}", INTERRUPTED)


def _source(name: str, file: str | None) -> tuple[bytes | None, str]:
    """The learner's file and the name to show for it."""
    if file is None:
        return None, ""
    if not LABS[name].entry:
        raise DrillError(f"{name} measures no file of yours: drill lab {name}")
    return workspace.read_source(file)


def _numbers(name: str, seed: int, quick: bool, source: bytes | None, shown: str) -> dict[str, Any]:
    from drills.screen.progress_bar import progress_bar
    from grader.session import Grader, GraderFault

    try:
        with Grader() as grader, progress_bar(name) as progress:
            found = grader.lab(name, seed, quick, source, shown, progress)
    except GraderFault as fault:
        raise DrillError(str(fault), GRADER_ERROR) from fault
    if "failed" in found:
        raise DrillError(found["failed"], NOT_PASSED)
    return found


def _grade(
    app: App, run: Run, result: Result, given: list[str] | None
) -> list[lab_questions.Graded]:
    if given is None:
        return []
    return lab_questions.grade_all(
        result.questions, given, lambda graded: lab_record.note_answer(app, run, graded)
    )


def _show(
    app: App, run: Run, result: Result, files: list[Path], given: list[str] | None, where: str
) -> int:
    """The page, then the questions: as answered, or asked where there is somebody to ask."""
    from drills.screen import measured

    questions = result.questions
    measured.print_result(run, result.to_json())
    if files:
        measured.print_files(files)
    graded = _grade(app, run, result, given)
    for place, (question, one) in enumerate(zip(questions, graded, strict=False), 1):
        measured.print_question(question, place, len(questions))
        console.out().print(f" > {one['given']}")
        measured.print_graded(one)
    asked = given is not None or console.on_terminal()
    if given is None and asked:
        try:
            graded = lab_questions.ask(
                questions, lambda graded: lab_record.note_answer(app, run, graded)
            )
        except KeyboardInterrupt as error:
            raise _interrupted("The run is kept, with your answers", where) from error
    right = sum(one["verdict"] == "passed" for one in graded)
    measured.print_score(right, len(questions), where, asked)
    return _exit_code(graded)


def _exit_code(graded: list[lab_questions.Graded]) -> int:
    return PASSED if all(one["verdict"] == "passed" for one in graded) else NOT_PASSED
