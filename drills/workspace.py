"""The learner's files: where a starter goes, what is never overwritten, what is read for grading.

Starters go to DRILL_WORKSPACE, else to the current folder; in a checkout of drill itself to its
`workspace/` folder, and where nothing may be written there, to the workspace in DRILL_HOME.
"""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from pathlib import Path

from drills import home
from drills.app import App, Question, unknown_id
from drills.errors import NOT_PASSED, UNUSABLE, USAGE, DrillError
from grader.isolation import source
from questions.kinds import CODE_KINDS


@dataclass(frozen=True)
class Starter:
    """`what` is "wrote" (a fresh starter), "kept" (the learner's file, untouched)."""

    path: Path
    what: str
    moved: Path | None = None


def folder() -> Path:
    """The workspace for this command; it may not be there yet."""
    chosen = os.environ.get("DRILL_WORKSPACE")
    if chosen:
        return Path(chosen).expanduser().absolute()
    try:
        here = Path.cwd()
    except FileNotFoundError:
        return home.home() / "workspace"
    if (here / "drills" / "workspace.py").is_file():
        here = here / "workspace"
    writable = here if here.exists() else here.parent
    return here if os.access(writable, os.W_OK) else home.home() / "workspace"


def file_name(question_id: str) -> str:
    return question_id.replace("-", "_") + ".py"


def near(path: Path) -> str:
    """The shortest way to write `path` from here."""
    whole = str(path)
    try:
        relative = os.path.relpath(whole)
    except (OSError, ValueError):
        return whole
    return relative if len(relative) < len(whole) and not relative.startswith("..") else whole


def remembered(app: App, question_id: str) -> Path | None:
    """Where the question's starter was written last, if a file is still there."""
    for event in reversed(app.store.events(question_id)):
        path = event.detail.get("path")
        if isinstance(path, str) and path:
            return Path(path) if Path(path).is_file() else None
    return None


def find(app: App, question_id: str) -> Path | None:
    """The learner's file for the question, here or where it was begun."""
    here = folder() / file_name(question_id)
    if here.is_file():
        return here
    here = Path(file_name(question_id)).absolute()
    return here if here.is_file() else remembered(app, question_id)


def resolve(app: App, first: str | None, second: str | None) -> tuple[Question, str | None]:
    """The code question and the file that the one or two arguments name, in either order.

    Without any the question served last; None for a file that was not named. Raises DrillError
    (exit 2).
    """
    question, name = _named(app, first, second)
    if question["kind"] not in CODE_KINDS:
        raise DrillError(f"{question['id']} needs no file: drill answer {question['id']} TEXT")
    return question, name


def _named(app: App, first: str | None, second: str | None) -> tuple[Question, str | None]:
    if first is None:
        return app.last_served(), None
    if second is not None:
        if first not in app.index.questions and second in app.index.questions:
            first, second = second, first
        return app.question(first), second
    if first in app.index.questions:
        return app.question(first), None
    if first == "-":
        return app.last_served(), first
    if not (first.endswith(".py") or "/" in first or Path(first).exists()):
        raise DrillError(unknown_id(first, app.index))
    by_name = Path(first).stem.replace("_", "-")
    if by_name in app.index.questions:
        return app.question(by_name), first
    if not Path(first).exists():
        raise DrillError(f"There is no file {first}.")
    return app.last_served(), first


def write_starter(
    app: App, question: Question, force: bool = False, fresh: bool = False
) -> Starter:
    """Write the starter unless a file is there: nothing of the learner's is ever overwritten.

    `force` moves a file that is there aside (.bak-1, .bak-2, ...). `fresh`, for a new sitting,
    does so only with a file that was graded as it stands: its content is also in the database.
    Raises DrillError (exit 4) where the workspace cannot be written.
    """
    question_id = question["id"]
    path = remembered(app, question_id) or folder() / file_name(question_id)
    starter = question["starter"]
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        moved = None
        if path.exists() or path.is_symlink():
            content = _content(path)
            if content == starter:
                return Starter(path, "kept")
            spent = fresh and content is not None and app.store.was_graded(question_id, content)
            if not (force or spent):
                return Starter(path, "kept")
            moved = _move_aside(path)
        create(path, starter)
    except OSError as error:
        raise DrillError(
            f"{path} cannot be written ({error.strerror}): "
            "go to a folder of yours, or set DRILL_WORKSPACE.",
            UNUSABLE,
        ) from error
    return Starter(path, "wrote", moved)


def begin(app: App, question: Question, force: bool = False) -> Starter:
    """What `write_starter` does, recorded as the question's beginning."""
    starter = write_starter(app, question, force=force)
    app.note(question["id"], "started", detail={"path": str(starter.path)})
    return starter


def _content(path: Path) -> str | None:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return None


def _move_aside(path: Path) -> Path:
    number = 1
    while True:
        target = path.with_name(f"{path.name}.bak-{number}")
        if not target.exists() and not target.is_symlink():
            path.rename(target)
            return target
        number += 1


def create(path: Path, text: str) -> None:
    """Write a new file: whole or not at all, and never over another one (FileExistsError)."""
    # The name appears by a link.
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    temporary.write_text(text, encoding="utf-8")
    try:
        os.link(temporary, path)
    except OSError:
        if path.exists():
            raise
        temporary.rename(path)  # a file system without hard links
        return
    temporary.unlink()


def read_source(name: str) -> tuple[bytes, str]:
    """The bytes of a submission, and the name to show for it; `-` is standard input.

    Raises DrillError: exit 2 where there is no file to grade (missing, a folder, a link), exit 1,
    the verdict `invalid`, where it cannot be a submission (too large, binary, empty).
    """
    try:
        if name == "-":
            data = sys.stdin.buffer.read(source.LARGEST + 1)
            return source.checked(data, "standard input"), "stdin.py"
        return source.read_source(name), Path(name).name
    except source.SourceError as error:
        code = USAGE if error.kind == "usage" else NOT_PASSED
        raise DrillError(str(error), code) from error


def read_submission(question: Question, name: str) -> tuple[bytes, str]:
    """What `read_source` gives. Raises DrillError (exit 2) also for a starter left as it was."""
    data, shown = read_source(name)
    _require_written(question, data, "standard input" if name == "-" else name)
    return data, shown


def checked_submission(question: Question, data: bytes, where: str) -> bytes:
    """`data`, which came from no file. Raises DrillError as `read_submission` does."""
    try:
        source.checked(data, where)
    except source.SourceError as error:
        raise DrillError(str(error), NOT_PASSED) from error
    _require_written(question, data, where)
    return data


def _require_written(question: Question, data: bytes, where: str) -> None:
    starter = question["starter"].encode()
    if data.split() == starter.split():
        if question["kind"] == "debug":
            raise DrillError(f"{where} is still the code as shipped: mend a bug first.", USAGE)
        raise DrillError(f"{where} is still the starter: write the function first.", USAGE)
