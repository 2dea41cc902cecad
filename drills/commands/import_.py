"""drill import: progress from an export, merged in."""

from __future__ import annotations

import sys

import click

from drills.app import App
from drills.errors import DrillError
from drills.options import complete_files, pass_app
from drills.screen.console import say


@click.command(name="import")
@click.argument("file", shell_complete=complete_files)
@pass_app
def command(app: App, file: str) -> int:
    """Merge the progress in FILE (- is standard input), as drill export wrote it.

    Nothing here is lost or doubled, however often a file is imported.
    """
    from drills.store.transfer import read_export

    try:
        if file == "-":
            data = sys.stdin.buffer.read()
        else:
            with open(file, "rb") as stream:
                data = stream.read()
    except IsADirectoryError as error:
        raise DrillError(f"{file} is a folder, not an export.") from error
    except FileNotFoundError as error:
        raise DrillError(f"There is no file {file}.") from error
    except OSError as error:
        raise DrillError(f"{file} cannot be read ({error.strerror}).") from error
    facts = read_export(data, file)
    app.store.require_recording("import")
    added = app.store.merge(facts)
    total = {table: len(rows) for table, rows in facts.items()}
    say(
        f"New here: {added['attempts']} of the file's {total['attempts']} attempts, "
        f"{added['reviews']} of its {total['reviews']} reviews.\nNext: drill next"
    )
    return 0
