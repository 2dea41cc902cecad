"""drill bank: for authors of questions, and for those who use banks from elsewhere."""

from __future__ import annotations

import json
from pathlib import Path
from shlex import quote

import click

from drills.app import App
from drills.errors import DrillError
from drills.options import KINDS, json_option, pass_app
from drills.screen import console


@click.group()
def command() -> None:
    """Check a bank, let one from elsewhere be used, begin a question file."""


@command.command()
@click.argument("path", required=False, type=click.Path(path_type=Path))
@click.option("--quick", is_flag=True, help="Only the form, not the power of the questions.")
@click.option(
    "--seeds", type=click.IntRange(1, 1000), default=2, show_default=True, help="Seeds a proof."
)
@json_option
@pass_app
def check(app: App, path: Path | None, quick: bool, seeds: int, as_json: bool) -> int:
    """Check the bank, or the question file or folder PATH.

    First the form, a finding a line as file:line:column: message. Then for each question the
    proof of its power: known wrong answers are rejected (code by a wide margin) and named, and
    right answers, for code in different styles, pass. Exit 0, or 1 with findings.
    """
    from drills import authoring

    root = path or app.bank or authoring.default_bank()
    if not root.exists():
        raise DrillError(f"There is no file or folder {root}.")
    findings = authoring.findings(root)
    if not as_json:
        for finding in findings:
            print(finding)
    if findings or quick:
        if as_json:
            console.print_json({"format": 1, "findings": [str(f) for f in findings]})
        else:
            count = len(findings)
            plural = "" if count == 1 else "s"
            console.say(f"{count} finding{plural}." if count else "No findings.")
        return 1 if findings else 0
    proofs = authoring.prove(root, range(1, seeds + 1), None if as_json else console.say)
    if as_json:
        console.print_json({"format": 1, "findings": [], "proofs": proofs})
    else:
        authoring.print_proofs(proofs)
    return 0 if all(proof["ok"] for proof in proofs) else 1


@command.command()
@click.argument("folder", metavar="[DIR]", required=False, type=click.Path(path_type=Path))
@click.option("--no-more", is_flag=True, help="Take the word back.")
def trust(folder: Path | None, no_more: bool) -> int:
    """Let the bank in DIR be used (drill --bank DIR next); without DIR, list those that may.

    A bank holds no code of its own that would run outside the isolation, but it decides what is
    asked and what counts as right: read it first. The word holds for the folder.
    """
    from drills import trust as words

    if folder is None:
        for path in words.trusted():
            print(path)
        return 0
    if not no_more and not folder.is_dir():
        raise DrillError(f"There is no folder {folder}.")
    words.trust(folder, not no_more)
    console.say(
        f"{folder} is not used any more."
        if no_more
        else f"{folder} may be used now: drill --bank {quote(str(folder))} next"
    )
    return 0


@command.command()
def schema() -> int:
    """Print the JSON schema of a question file, for editors."""
    from questions.loader import json_schema

    print(json.dumps(json_schema(), indent=2))
    return 0


@command.command()
@click.argument("question_id", metavar="ID")
@click.option("--kind", type=click.Choice(KINDS), required=True)
@click.option("--topic", default="attention", show_default=True)
@click.option("--bank", type=click.Path(path_type=Path), help="Folder of the bank to add it to.")
@pass_app
def new(app: App, question_id: str, kind: str, topic: str, bank: Path | None) -> int:
    """Begin the question file of a new question ID; the comments say what goes where."""
    from drills import authoring

    path = authoring.scaffold(
        bank or app.bank or authoring.default_bank(), question_id, kind, topic
    )
    console.say(f"Wrote {path}. Fill it in, then: drill bank check {path}")
    return 0
