"""The learner's editor: VISUAL, else EDITOR, with its arguments."""

from __future__ import annotations

import os
from pathlib import Path

from drills.errors import UNUSABLE, DrillError

_REMEDY = "set VISUAL or EDITOR"


def editor() -> str:
    """The command, arguments included ("code -w"); empty for none."""
    return (os.environ.get("VISUAL", "").strip() or os.environ.get("EDITOR", "")).strip()


def require() -> str:
    """The command. Raises DrillError (exit 4) for none."""
    command = editor()
    if not command:
        raise DrillError(
            f"No editor is known: {_REMEDY}, or edit the file in another window.", UNUSABLE
        )
    return command


def edit(path: Path) -> None:
    """Open `path`, and wait until the editor ends. Raises DrillError (exit 4) where it fails."""
    import shlex
    import signal
    import subprocess

    command = require()
    # Ctrl-C in the editor is the editor's: a handler, unlike SIG_IGN, is not inherited.
    before = signal.signal(signal.SIGINT, lambda *_: None)
    try:
        status = subprocess.call([*shlex.split(command), str(path)])
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise DrillError(
            f"The editor {command} did not start ({reason}): {_REMEDY}.", UNUSABLE
        ) from error
    finally:
        signal.signal(signal.SIGINT, before)
    if status:
        raise DrillError(f"The editor {command} failed (status {status}): {_REMEDY}.", UNUSABLE)
