"""Labs in the database: each run and each answer is an event, whose `question` is lab/NAME."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from drills.app import App

if TYPE_CHECKING:
    from drills.lab_runs import Run

MEASURED, ANSWERED = "measured", "answered"


def _key(lab: str) -> str:
    # No question of a bank is called so: ids have no slash.
    return f"lab/{lab}"


def note_run(app: App, run: Run, folder: Path) -> None:
    """Remember that a lab was run, of what, and where its numbers are."""
    detail = {"run": run["run"], "file": run["file"], "quick": run["quick"], "folder": str(folder)}
    app.note(_key(run["lab"]), MEASURED, run["seed"], detail)


def note_answer(app: App, run: Run, graded: Mapping[str, Any]) -> None:
    """Remember an answer as `grader.labs.asked.grade` judged it."""
    detail = {"run": run["run"], "asked": graded["id"], "given": graded["given"],
              "verdict": graded["verdict"]}  # fmt: skip
    app.note(_key(run["lab"]), ANSWERED, run["seed"], detail)


@dataclass(frozen=True)
class Standing:
    """How a learner stands with a lab. `right` of its questions were answered right of its best
    run, None where nothing was answered: a later slip takes nothing away."""

    runs: int
    last: datetime | None
    right: int | None


def standing(app: App, lab: str) -> Standing:
    """From the facts about one lab."""
    events = app.store.events(_key(lab))
    measured = [event.at for event in events if event.name == MEASURED]
    right: dict[Any, set[Any]] = {}  # the questions of each run
    for event in events:
        if event.name == ANSWERED:
            of_run = right.setdefault(event.detail.get("run"), set())
            if event.detail.get("verdict") == "passed":
                of_run.add(event.detail.get("asked"))
    best = max(map(len, right.values()), default=None)
    return Standing(len(measured), max(measured, default=None), best)
