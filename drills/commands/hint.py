"""drill hint: one hint at a time."""

from __future__ import annotations

import click

from drills import serving
from drills.app import App
from drills.options import id_argument, json_option, pass_app


@click.command()
@id_argument(required=False)
@json_option
@pass_app
def command(app: App, question_id: str | None, as_json: bool) -> int:
    """Show the next hint for problem ID, or for the one served last.

    A pass with hints brings the problem back sooner.
    """
    question = app.question_or_last(question_id)
    seed = serving.last_seed(app, question["id"])
    served = serving.serve(question, seed if seed is not None else serving.draw_seed())
    number, text = next_hint(app, served)
    hints = len(question["hints"])
    if as_json:
        from drills.screen.console import print_json

        data = {"format": serving.FORMAT, "question": served.id, "seed": served.seed}
        print_json({**data, "number": number, "of": hints, "hint": text})
        return 0
    from drills.screen.pages import print_hint

    print_hint(served, number, text)
    return 0


def next_hint(app: App, served: serving.Served) -> tuple[int, str]:
    """Record and return the next hint, by number and text; after the last, the last again."""
    hints = served.question["hints"]
    number = min(app.sitting(served.id).hints_shown + 1, len(hints))
    app.note(served.id, "hint", served.seed, {"number": number})
    return number, served.text(hints[number - 1])
