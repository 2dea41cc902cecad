"""drill report: progress as one HTML file."""

from __future__ import annotations

from pathlib import Path

import click

from drills import clock
from drills.app import App
from drills.options import json_option, pass_app
from drills.screen import console


@click.command()
@click.option("--out", metavar="FILE", type=click.Path(path_type=Path), help="Where it goes.")
@click.option("--open", "opened", is_flag=True, help="Show it in the browser.")
@click.option("--force", is_flag=True, help="Write over a FILE that is no report of before.")
@json_option
@pass_app
def command(app: App, out: Path | None, opened: bool, force: bool, as_json: bool) -> int:
    """Write progress as one HTML file, to read anywhere: it needs nothing else, and no network.

    Days, topics, learning curves, mistakes, mock interviews, and what is due next. Without --out
    it is drill-report-DATE.html in the current folder.
    """
    from drills import html
    from drills.html import report
    from drills.workspace import near

    path = out or Path(f"drill-report-{clock.now().astimezone():%Y-%m-%d}.html")
    html.check(path, "report", force)
    size = html.write(report.build(app), path, "report", force)
    if as_json:
        console.print_json(
            {"format": 1, "file": str(path.absolute()), "bytes": path.stat().st_size}
        )
    else:
        console.say(f"Wrote {near(path)}, {size}")
    if opened:
        import webbrowser

        if not webbrowser.open(path.absolute().as_uri()):
            console.say(f"No browser was found: open {near(path)} yourself.")
    return 0
