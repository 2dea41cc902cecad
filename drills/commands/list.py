"""drill list: the bank, with where the learner stands."""

from __future__ import annotations

import click

from drills import choose, clock
from drills.app import App
from drills.options import json_option, kind_option, pass_app, topic_option

STATUSES = ("new", "unfinished", "due", "learned", "missed", "put off")


@click.command()
@topic_option
@kind_option
@click.option("--status", type=click.Choice(STATUSES), help="Only this status.")
@json_option
@pass_app
def command(
    app: App, topic: str | None, kind: str | None, status: str | None, as_json: bool
) -> int:
    """List the bank by topic, with how you stand (--json keeps the teaching order).

    ✓ stands by what you passed at least once.
    """
    questions = app.index.questions
    rows = [
        (questions[question_id], standing)
        for question_id, standing in choose.standings(app).items()
        if topic in (None, questions[question_id]["topic"])
        and kind in (None, questions[question_id]["kind"])
        and status in (None, standing.status)
    ]
    if as_json:
        from drills.screen.console import print_json

        print_json({"format": 1, "questions": [_as_json(q, s) for q, s in rows]})
        return 0
    from drills.screen.pages import print_list

    print_list(rows, clock.now())
    return 0


def _as_json(question: dict[str, object], standing: choose.Standing) -> dict[str, object]:
    keys = ("id", "title", "kind", "topic", "level", "minutes", "revision")
    return {
        **{key: question[key] for key in keys},
        "status": standing.status,
        "passed": standing.passed,
        "attempts": standing.attempts,
        "due": clock.to_text(standing.due) if standing.due else None,
    }
