"""drill stats: progress."""

from __future__ import annotations

import click

from drills import progress
from drills.app import App
from drills.options import json_option, pass_app


@click.command()
@json_option
@pass_app
def command(app: App, as_json: bool) -> int:
    """Show progress: what is passed and due, by topic and kind, and what goes wrong most often.

    Recall is FSRS's prediction: how likely a problem is passed now that was passed before, or
    whose answer was shown. Time counts from when a problem was served, or from the try before, and
    as an hour a try at most.
    """
    found = progress.measure(app)
    future = app.store.from_the_future()
    if future:
        from drills.screen.console import say

        say(
            f"Left out until their time comes, because their dates lie in the future: {future} of "
            "your entries. Was this machine's clock wrong?"
        )
    if as_json:
        from drills.screen.console import print_json

        print_json(progress.as_json(found))
        return 0
    from drills.screen.stats import print_stats

    print_stats(found)
    return 0
