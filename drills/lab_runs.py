"""A lab's run as a file: written when it was measured, read when it is asked about later."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from drills import clock, home
from drills.errors import UNUSABLE, DrillError
from drills.screen.safe import one_line
from drills.store import new_uuid
from drills.workspace import near

if TYPE_CHECKING:
    from grader.labs.document import Result

FORMAT = 1
_LARGEST = 1 << 20  # bytes of a file: a run has a few thousand
_KEYS = {
    "run": (str,),
    "at": (str,),
    "lab": (str,),
    "file": (str, type(None)),
    "seed": (int,),
    "quick": (bool,),
    "isolation": (list,),
    "data": (dict,),
}

Run = dict[str, Any]
"""`lab`, `file` (the learner's, None for the reference), `seed`, `quick`, `isolation` (what shut
that file in), `data` as measured; `run` is its own UUID, by which the answers given to it are
known, and `at` the time in UTC."""


def new(lab: str, file: str | None, seed: int, quick: bool, found: Mapping[str, Any]) -> Run:
    """A run that was measured just now; `found` is what `Grader.lab` returned."""
    return {"run": new_uuid(), "at": clock.to_text(clock.now()), "lab": lab, "file": file,
            "seed": seed, "quick": quick, "isolation": found["isolation"],
            "data": found["data"]}  # fmt: skip


def document(run: Run, result: Result) -> dict[str, Any]:
    """What a run's file holds: no answer is in it that was not given yet."""
    from grader.labs import asked

    return {
        "format": FORMAT,
        "program": "drill",
        **run,
        "title": result.title,
        "conditions": list(result.conditions),
        "findings": list(result.findings),
        "doubts": list(result.doubts),
        "derived": result.derived,
        "questions": [asked.public(question) for question in result.questions],
    }


class Folder:
    """Where the results of a run go. Made and tried before anything is measured, and taken away
    again where it is new and nothing came of the run.

    Raises DrillError (exit 4), here, in `write` and in `draw`, where it cannot be written.
    """

    def __init__(self, lab: str, out: Path | None) -> None:
        stamp = f"{lab}-{clock.now().astimezone():%Y%m%d-%H%M%S-%f}"[:-3]
        self.path = out.expanduser().absolute() if out else _all() / stamp
        self._made: list[Path] = []
        try:
            for parent in (*reversed(self.path.parents), self.path):
                if not parent.exists():
                    parent.mkdir()
                    self._made.append(parent)
            trial = self.path / f".drill-{os.getpid()}"
            trial.touch()
            trial.unlink()
        except OSError as error:
            self.abandon()
            raise self._unusable(error) from error

    def abandon(self) -> None:
        """Remove what was made, as far as it is empty."""
        for folder in reversed(self._made):
            with suppress(OSError):
                folder.rmdir()

    def write(self, run: Run, result: Result) -> Path:
        """The numbers. Pictures of an earlier run, which had others, are removed."""
        from drills import pictures

        numbers = self.path / f"{run['lab']}.json"
        text = json.dumps(document(run, result), indent=1)
        try:
            for picture in pictures.paths(self.path, run["lab"]):
                picture.unlink(missing_ok=True)
            numbers.write_text(text + "\n", encoding="utf-8")
        except OSError as error:
            raise self._unusable(error) from error
        return numbers

    def draw(self, run: Run, result: Result) -> list[Path]:
        """The pictures. Raises ImportError where matplotlib is not there."""
        from drills import pictures

        told = result.to_json()
        caption = " ".join(told["conditions"])
        try:
            return pictures.write(result.title, told["panels"], caption, self.path, run["lab"])
        except OSError as error:
            raise self._unusable(error) from error

    def _unusable(self, error: OSError) -> DrillError:
        return DrillError(
            f"{self.path} cannot be written ({error.strerror}): name another folder with --out.",
            UNUSABLE,
        )


def _all() -> Path:
    return home.home() / "labs"


def short(path: Path) -> str:
    """How `read` is told of a run at `path`, in few characters."""
    return path.name if path.parent == _all() else near(path)


def read(name: str, lab: str | None) -> tuple[Run, Result]:
    """The run in the file `name`, or in the folder of that name, here or under DRILL_HOME/labs,
    and what comes of it. `lab` is the lab that it has to be of, None for any.

    Raises DrillError (exit 2) where there is none.
    """
    from grader.labs import LABS, results

    run = _run(_bytes(_path(name, lab)), name)
    if run["lab"] not in LABS:
        raise DrillError(f"{name} is a run of a lab that this drill does not have: upgrade drill.")
    if lab is not None and run["lab"] != lab:
        raise DrillError(f"{name} is a run of {run['lab']}: drill lab --from {name}")
    try:
        return run, results.result(run)
    except results.Damaged as error:
        raise DrillError(
            f"{name} is damaged, its numbers are not as they were measured: drill lab {run['lab']}"
            " measures anew."
        ) from error


def _path(name: str, lab: str | None) -> Path:
    path = Path(name).expanduser()
    if not path.exists() and (_all() / path).is_dir():
        path = _all() / path
    if not path.is_dir():
        return path
    from grader.labs import LABS

    found = [path / f"{one}.json" for one in ([lab] if lab else LABS)]
    found = [one for one in found if one.is_file()]
    if not found:
        raise DrillError(f"There is no run of {lab or 'a lab'} in {name}.")
    if len(found) > 1:
        raise DrillError(f"{name} holds several runs: name one, like {found[0]}.")
    return found[0]


def _bytes(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            data = file.read(_LARGEST + 1)
    except FileNotFoundError as error:
        raise DrillError(f"There is no file {path}.") from error
    except OSError as error:
        raise DrillError(f"{path} cannot be read ({error.strerror}).") from error
    if len(data) > _LARGEST:
        raise DrillError(f"{path} is too large for the run of a lab.")
    return data


def _run(data: bytes, name: str) -> Run:
    try:
        found = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise DrillError(f"{name} is not JSON, so not the run of a lab.") from error
    if not isinstance(found, dict) or found.get("program") != "drill" or "lab" not in found:
        raise DrillError(f"{name} is not the run of a lab.")
    form = found.get("format")
    if type(form) is not int or form > FORMAT:
        raise DrillError(f"{name} was written by a newer drill: upgrade drill.")
    for key, types in _KEYS.items():
        value = found.get(key, ...)
        if not isinstance(value, types) or (isinstance(value, bool) and bool not in types):
            raise DrillError(f'{name} is damaged: its "{key}" is not as drill lab writes it.')
    if not 0 <= found["seed"] < 2**63:
        raise DrillError(f'{name} is damaged: its "seed" is not as drill lab writes it.')
    run = {key: found[key] for key in _KEYS}
    run["isolation"] = [layer for layer in run["isolation"] if isinstance(layer, str)]
    return {**run, "file": None if run["file"] is None else one_line(run["file"], 80)}
