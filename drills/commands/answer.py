"""drill answer: grade an answer that is no code."""

from __future__ import annotations

import sys

import click

from drills import in_place, serving, submit
from drills.app import App
from drills.errors import DrillError
from drills.options import id_argument, json_option, pass_app, seed_option
from drills.screen import console
from questions.kinds import CODE_KINDS

_LARGEST_ANSWER = 64 * 1024  # bytes


# "-h" may be an answer, and so may much else that begins with a minus sign.
@click.command(context_settings={"ignore_unknown_options": True, "help_option_names": ["--help"]})
@id_argument(required=True)
@click.argument("text", nargs=-1, type=click.UNPROCESSED)
@seed_option
@json_option
@pass_app
def command(
    app: App, question_id: str, text: tuple[str, ...], seed: int | None, as_json: bool
) -> int:
    """Grade TEXT as the answer to problem ID.

    Without TEXT (or for -) the answer is read from standard input; on a terminal it is asked
    for. An answer of several parts is one part a line, or one argument a part. It is graded
    against the numbers shown last, or those of --seed.
    """
    question = app.question(question_id)
    if question["kind"] in CODE_KINDS:
        raise DrillError(f"{question_id} is answered by a file: drill grade {question_id}")
    if seed is None:
        seed = serving.last_seed(app, question_id)
    asked = not text and sys.stdin.isatty()
    if seed is None and not (asked and not as_json) and _depends_on_seed(app, question):
        raise DrillError(
            f"{question_id} has numbers of its own each time, and was not shown yet: "
            f"drill show {question_id}, or name a --seed."
        )
    shown = seed is not None
    served = serving.serve(question, serving.draw_seed() if seed is None else seed)
    if asked and not as_json:
        if not shown:
            app.note(question_id, "shown", served.seed)
        from drills.screen.pages import print_problem

        print_problem(served)
        given = in_place.read_answer(app, served)
        if given is None:
            return 0
    else:
        given = _given(text, served)
    report = submit.grade_text(app, served, given)
    if not as_json and console.on_terminal():
        report = in_place.review(served, report)
    outcome = submit.record(app, question, report, given)
    if as_json:
        console.print_json(report.to_json())
    else:
        from drills.screen.pages import print_outcome

        print_outcome(outcome)
    return outcome.exit_code


def _depends_on_seed(app: App, question: dict[str, object]) -> bool:
    return bool(serving.serve(question, 1).parameters)


def _given(text: tuple[str, ...], served: serving.Served) -> str:
    if text and text != ("-",):
        several = served.by_parts and len(text) == len(served.parts)
        given = ("\n" if several else " ").join(text)
        try:
            given.encode()
        except UnicodeEncodeError as error:  # argv bytes that are no UTF-8 arrive as surrogates
            raise DrillError("The answer is not text in UTF-8.") from error
    else:
        data = sys.stdin.buffer.read(_LARGEST_ANSWER + 1)
        if len(data) > _LARGEST_ANSWER:
            raise DrillError(f"The answer is longer than {_LARGEST_ANSWER // 1024} KiB.")
        try:
            given = data.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            raise DrillError("The answer is not text in UTF-8.") from error
    if not given.strip():
        raise DrillError(f"The answer is empty: drill answer {served.id} TEXT")
    return given
