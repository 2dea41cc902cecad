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
    """Show progress by topic, the days practised, and the mistakes made most often."""
    found = progress.measure(app)
    if as_json:
        from drills.screen.console import print_json

        print_json(progress.as_json(found))
        return 0
    from drills.screen.pages import print_stats

    print_stats(found)
    return 0
