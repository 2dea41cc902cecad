"""Lines of the learner's file as `path:line:` at the left edge, where editors jump from."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING

from rich.text import Text

from drills.screen import console as look
from drills.screen.safe import safe

if TYPE_CHECKING:
    from grader.report import Report

_LONGEST_TRACEBACK = 12
_MOST_PLACES = 3
_FRAME = re.compile(r'\s*File "(?P<name>[^"]*)", line (?P<line>\d+)(?P<rest>.*)')


def place_lines(report: Report, path: str) -> list[Text]:
    """The lines that failing checks name, where no traceback does. `path` is the file that was
    graded, as seen from here; "" where it was no file."""
    if not path or report.traceback:
        return []
    titles: dict[int, str] = {}
    for check in report.checks:
        if check.line:
            titles.setdefault(check.line, check.title or check.id)
    places = [_place(path, line, title) for line, title in sorted(titles.items())[:_MOST_PLACES]]
    return [Text(""), *places] if places else []


def traceback_lines(report: Report, path: str) -> list[Text]:
    """Python's own traceback with its places in that form."""
    error = report.traceback.rstrip().rpartition("\n")[2].strip()
    text, most = report.traceback, _LONGEST_TRACEBACK
    return excerpt("Traceback", text, most, lambda row: _row(row, path, error))


def excerpt(label: str, text: str, most: int, shown: Callable[[str], Text]) -> list[Text]:
    """`label`, then the lines of `text` as `shown`: the first and last where there are more than
    `most`; nothing where it is blank."""
    if not text.strip():
        return []
    rows = safe(text).rstrip().split("\n")
    cut = len(rows) - most
    if cut > 0:
        half = most // 2
        rows = [*rows[:half], f"… {cut} lines more …", *rows[-half:]]
    return [Text(""), Text(f" {label}", style=look.DIM), *(shown(row) for row in rows)]


def _row(row: str, path: str, error: str) -> Text:
    frame = _FRAME.fullmatch(row)
    if frame is None:
        return Text(f"   {row}")
    own = path.rpartition("/")[2] == frame["name"]
    # vim takes no place without words: a syntax error, which names no function, has its own.
    about = frame["rest"].lstrip(", ") or error
    return _place(path if own else frame["name"], int(frame["line"]), about)


def _place(path: str, line: int, about: str) -> Text:
    return Text.assemble((f"{safe(path)}:{line}:", look.BOLD), safe(f" {about}" if about else ""))
