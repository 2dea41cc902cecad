"""Exit codes, and the one exception that ends a command with a sentence."""

from __future__ import annotations

PASSED = 0
NOT_PASSED = 1
USAGE = 2
GRADER_ERROR = 3
UNUSABLE = 4
NOTHING_DUE = 5
INTERRUPTED = 130


class DrillError(Exception):
    """Ends the command: the message is one sentence with its remedy, `code` the exit status."""

    def __init__(self, message: str, code: int = USAGE) -> None:
        super().__init__(message)
        self.code = code
