"""drill doctor: what this installation consists of, to paste into a report."""

from __future__ import annotations

import os
import platform
import sqlite3
import sys
import tempfile
from importlib import metadata
from typing import Any

import click

from drills import home
from drills.app import App
from drills.errors import PASSED, UNUSABLE, DrillError
from drills.options import json_option, pass_app
from drills.screen import console
from grader.isolation import policy

_LIBRARIES = ("torch", "numpy", "sympy", "pydantic", "click", "rich", "fsrs")
_USUAL_SECONDS = 10.0


@click.command()
@json_option
@pass_app
def command(app: App, as_json: bool) -> int:
    """Show versions, devices, isolation, database and bank; exit 4 where drill cannot work."""
    found = examine(app)
    if as_json:
        console.print_json({"format": 1, **found})
    else:
        _print(found)
    return PASSED if found["usable"] else UNUSABLE


def examine(app: App) -> dict[str, Any]:
    """What `drill doctor --json` prints but for `format`."""
    libraries = {name: _version(name) for name in _LIBRARIES}
    problems = [f"{name} is not installed" for name, version in libraries.items() if not version]
    database = _database(app)
    problems += [database["problem"]] if database.get("problem") else []
    bank = _bank(app)
    problems += [bank["problem"]] if bank.get("problem") else []
    return {
        "usable": not problems,
        "problems": problems,
        "drill": _version("attention-drill") or "from source, not installed",
        "python": platform.python_version(),
        "executable": sys.executable,
        "platform": platform.platform(),
        "cpus": os.cpu_count(),
        "libraries": libraries,
        "devices": {"cpu": "used for grading", "cuda": "not looked for; grading uses the CPU"},
        "isolation": list(_isolation()),
        "home": str(home.home()),
        "database": database,
        "bank": bank,
    }


def _isolation() -> tuple[str, ...]:
    _, lacking = policy.outer(os.path.join(tempfile.gettempdir(), "drill-doctor"), (), 3)
    return policy.inner(lacking).layers(_USUAL_SECONDS)


def _version(name: str) -> str | None:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def _database(app: App) -> dict[str, Any]:
    found: dict[str, Any] = {"path": str(app.store.path), "sqlite": sqlite3.sqlite_version}
    try:
        found["schema"] = app.store.schema_version()
        found["integrity"] = app.store.check()
        found["attempts"] = len(app.store.attempts())
        found["recording"] = app.store.recording
    except DrillError as error:
        return {**found, "problem": str(error)}
    if found["integrity"] != "ok":
        found["problem"] = f"the database is damaged: {found['integrity']}"
    elif not found["recording"]:
        found["problem"] = f"nothing can be remembered: {app.store.why_unrecorded()}"
    return found


def _bank(app: App) -> dict[str, Any]:
    try:
        questions = app.index.questions.values()
    except DrillError as error:
        return {"problem": str(error)}
    kinds: dict[str, int] = {}
    for question in questions:
        kinds[question["kind"]] = kinds.get(question["kind"], 0) + 1
    if not kinds:
        return {"questions": 0, "kinds": {}, "problem": "the bank is empty"}
    return {"questions": sum(kinds.values()), "kinds": kinds}


def _contents(database: dict[str, Any]) -> str:
    if "attempts" not in database:
        return "unusable, "
    count = database["attempts"]
    tries = f"{count} attempt" + ("" if count == 1 else "s")
    return f"schema {database['schema']}, integrity {database['integrity']}, {tries}, "


def _print(found: dict[str, Any]) -> None:
    from rich.text import Text

    from drills.screen.markdown import wrap
    from drills.screen.safe import safe

    libraries = ", ".join(f"{name} {version}" for name, version in found["libraries"].items())
    database, bank = found["database"], found["bank"]
    kinds = ", ".join(f"{count} {kind}" for kind, count in bank.get("kinds", {}).items())
    rows = [
        ("drill", f"{found['drill']}, Python {found['python']}, {found['platform']}"),
        ("", f"{found['executable']}, {found['cpus']} CPUs"),
        ("libraries", libraries),
        *((name, words) for name, words in found["devices"].items()),
        *(("isolation" if not n else "", words) for n, words in enumerate(found["isolation"])),
        ("home", found["home"]),
        ("database", f"{_contents(database)}SQLite {database['sqlite']}"),
        ("bank", f"{bank['questions']} questions: {kinds}" if kinds else "unusable"),
    ]
    out = console.out()
    out.print()
    for label, words in rows:
        for line in wrap(Text(safe(words)), out.width, f" {label:<11}", " " * 12):
            out.print(line)
    out.print()
    for problem in found["problems"]:
        for line in wrap(Text(safe(problem), style=console.BAD), out.width, " PROBLEM   "):
            out.print(line)
    verdict = "All is well. Next: drill next"
    if not found["usable"]:
        verdict = "Mend that, then look again: drill doctor"
    out.print(Text(f" {verdict}", style=console.GOOD if found["usable"] else console.BAD))
