"""Banks from elsewhere: which folders the learner said may be used.

A bank decides what is asked and what counts as right. So that no folder or environment that someone
else prepared does so unseen, each is named once by `drill bank trust`.
"""

from __future__ import annotations

import json
import os
from contextlib import suppress
from pathlib import Path
from shlex import quote

from drills import home
from drills.errors import UNUSABLE, USAGE, DrillError

NAME = "trusted-banks.json"


def trusted() -> list[str]:
    """The folders, in order. What is damaged counts as nothing said."""
    try:
        found = json.loads((home.home() / NAME).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return []
    return sorted({one for one in found if isinstance(one, str)} if isinstance(found, list) else ())


def trust(folder: Path, wish: bool = True) -> None:
    """Record the word, or take it back. Raises DrillError (exit 4) where it cannot be kept."""
    path = home.home() / NAME
    known = {*trusted(), str(folder.resolve())} if wish else {*trusted()} - {str(folder.resolve())}
    new = path.with_suffix(f".{os.getpid()}.new")
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        new.write_text(json.dumps(sorted(known), indent=1) + "\n", encoding="utf-8")
        new.replace(path)
    except OSError as error:
        with suppress(OSError):
            new.unlink()
        raise DrillError(f"{path} cannot be written ({error.strerror}).", UNUSABLE) from error


def require(folder: Path, shipped: Path) -> None:
    """Raises DrillError (exit 2) where nobody said that the bank in `folder` may be used."""
    if folder.resolve() == shipped.resolve() or str(folder.resolve()) in trusted():
        return
    typed = quote(str(folder))
    raise DrillError(
        f"The bank in {folder} is not trusted yet, and a bank decides what counts as right. Read "
        f"it, check it (drill bank check {typed}), then: drill bank trust {typed}",
        USAGE,
    )
