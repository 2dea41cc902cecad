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
    asked = not text and not as_json and sys.stdin.isatty()
    if asked and seed is None and serving.last_seed(app, question_id) is None:
        seed = serving.draw_seed()
        app.note(question_id, "shown", seed)
    served = serving.serve_to_answer(app, question, seed)
    if asked:
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


def _given(text: tuple[str, ...], served: serving.Served) -> str:
    if text and text != ("-",):
        several = served.by_parts and len(text) == len(served.parts)
        # Arguments that are no UTF-8 arrive as surrogates.
        data = ("\n" if several else " ").join(text).encode("utf-8", "surrogateescape")
    else:
        data = sys.stdin.buffer.read(submit.LARGEST_ANSWER + 1)
    return submit.read_answer(data, served)
