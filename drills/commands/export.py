"""drill export: all progress as JSON."""

from __future__ import annotations

import os
from pathlib import Path

import click

from drills.app import App
from drills.errors import UNUSABLE, DrillError
from drills.options import pass_app
from drills.screen.console import say


@click.command()
@click.argument("file", required=False, type=click.Path(path_type=Path))
@pass_app
def command(app: App, file: Path | None) -> int:
    """Write every attempt, review and event as JSON to FILE, or to standard output.

    drill import reads it on another machine; nothing is lost.
    """
    from drills.store.transfer import export_text

    unusable = app.store.why_unrecorded()
    if unusable and not any(app.store.facts().values()):
        raise DrillError(f"There is nothing to export: {unusable}.", UNUSABLE)
    text = export_text(app.store)
    if file is None or str(file) == "-":
        print(text)
        return 0
    temporary = file.with_name(f".{file.name}.{os.getpid()}")
    try:
        temporary.write_text(text + "\n", encoding="utf-8")
        temporary.replace(file)  # an export of before stays whole until this one is
    except OSError as error:
        temporary.unlink(missing_ok=True)
        raise DrillError(f"{file} cannot be written ({error.strerror}).", UNUSABLE) from error
    say(f"Wrote {file}. On another machine: drill import {file.name}")
    return 0
