"""drill doctor: what this installation consists of, to paste into a report."""

from __future__ import annotations

import os
import platform
import sqlite3
import sys
import tempfile
from collections.abc import Callable
from importlib import metadata
from typing import TYPE_CHECKING, Any

import click

from drills import devices, home
from drills.app import App
from drills.authoring import default_bank, honest_answers
from drills.errors import PASSED, UNUSABLE, DrillError
from drills.options import json_option, pass_app
from drills.screen import console
from grader.isolation import policy

if TYPE_CHECKING:
    from grader.session import Grader

_LIBRARIES = (
    "torch",
    "numpy",
    "sympy",
    "pydantic",
    "click",
    "rich",
    "fsrs",
    "matplotlib",
    "watchfiles",
)
_USUAL_SECONDS = 10.0


@click.command()
@click.option("--quick", is_flag=True, help="Run no code: leave the attacks on the isolation out.")
@json_option
@pass_app
def command(app: App, quick: bool, as_json: bool) -> int:
    """Show versions, database and bank; attack the isolation; exit 4 where something fails.

    The attacks run as submissions do, against files, sockets and a process laid out for them. Each
    is blocked, OPEN, or untestable.
    """
    found = examine(app, attacks=not quick, say=None if as_json else console.say)
    if as_json:
        console.print_json({"format": 1, **found})
    else:
        _print(found)
    return PASSED if found["usable"] else UNUSABLE


def examine(
    app: App, attacks: bool = True, say: Callable[[str], None] | None = None
) -> dict[str, Any]:
    """What `drill doctor --json` prints but for `format`; `say` hears how far it is."""
    libraries = {name: _version(name) for name in _LIBRARIES}
    problems = [f"{name} is not installed" for name, version in libraries.items() if not version]
    database = _database(app)
    problems += [database["problem"]] if database.get("problem") else []
    bank = _bank(app)
    problems += [bank["problem"]] if bank.get("problem") else []
    layers, probes = _layers(), list[dict[str, Any]]()
    if attacks and not problems:
        layers, probes, failed = _attacks(app, say)
        problems += failed
    return {
        "usable": not problems,
        "problems": problems,
        "drill": _version("attention-drill") or "from source, not installed",
        "python": platform.python_version(),
        "executable": sys.executable,
        "platform": platform.platform(),
        "cpus": os.cpu_count(),
        "libraries": libraries,
        "devices": devices.here(),
        "isolation": [_with_all_limits(app, layer) for layer in layers],
        "probes": probes,
        "home": str(home.home()),
        "database": database,
        "bank": bank,
    }


def _layers() -> tuple[str, ...]:
    """What a grade would be shut in by, as far as can be told without one."""
    _, lacking = policy.outer(os.path.join(tempfile.gettempdir(), "drill-doctor"), (), 3)
    return policy.inner(lacking).layers(_USUAL_SECONDS)


def _with_all_limits(app: App, layer: str) -> str:
    """The limit of time is the question's: where the bank has others than the usual one, they are
    told beside it."""
    try:
        kinds = {q["seconds"]: q["kind"] for q in app.index.questions.values() if "seconds" in q}
    except DrillError:
        return layer
    kinds.pop(_USUAL_SECONDS, None)
    others = ", ".join(f"{seconds:g} s for a {kind}" for seconds, kind in sorted(kinds.items()))
    usual = f"limits: {_USUAL_SECONDS:g} s"
    return layer.replace(usual, f"{usual} ({others})", 1) if others else layer


def _attacks(
    app: App, say: Callable[[str], None] | None
) -> tuple[tuple[str, ...], list[dict[str, Any]], list[str]]:
    """The layers of a real grader, what the probes found, and what does not hold."""
    from grader.isolation.examine import examine as attack
    from grader.isolation.examine import handlers
    from grader.session import Grader, GraderFault

    problems = []
    try:
        with Grader(handlers()) as grader:
            if say is not None:
                say("Attacking the isolation; drill doctor --quick leaves this out.")
            findings = attack(grader)
            layers, tier = grader.policy.layers(_USUAL_SECONDS), grader.policy.tier
        with Grader() as grader:
            if say is not None:
                say("Grading a right answer to each code question.")
            refused = _refused(app, grader)
    except GraderFault as fault:
        return _layers(), [], [str(fault)]
    for finding in findings:
        if not finding.holds:
            problems.append(f"tier {tier} of the isolation does not hold: it could {finding.probe}")
    problems += [f"right code is refused here: {line}" for line in refused]
    told = [{"probe": f.probe, "state": f.state, "claimed": f.claimed} for f in findings]
    return layers, told, problems


def _refused(app: App, grader: Grader) -> list[str]:
    """Right answers, one for each code question, that do not pass under this isolation."""
    refused = []
    for id_, question in app.index.questions.items():
        answers = honest_answers(default_bank(), id_) if question["kind"] == "code" else {}
        for name, source in sorted(answers.items())[:1]:
            report = grader.grade(question, source, 1, f"{name}.py", app.index.mistakes)
            if report.verdict != "passed":
                refused.append(f"{id_}, {report.verdict}: {report.summary}")
    return refused


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
        found["from_the_future"] = app.store.from_the_future()
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
    if database["from_the_future"]:
        tries += f", {database['from_the_future']} entries dated in the future and left out"
    return f"schema {database['schema']}, integrity {database['integrity']}, {tries}, "


def _probe_rows(probes: list[dict[str, Any]]) -> list[tuple[str, str]]:
    """What was tried, by what came of it."""
    rows: list[tuple[str, str]] = []
    for state in ("OPEN", "untestable", "blocked"):
        names = [probe["probe"] for probe in probes if probe["state"] == state]
        if names:
            rows.append(("attacks" if not rows else "", f"{state}: {'; '.join(names)}"))
    return rows


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
        *_probe_rows(found["probes"]),
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
