"""Writes a submission's answer into the slab: status, values, texts of errors."""

from __future__ import annotations

import errno
import mmap
import traceback
from collections.abc import Callable
from types import TracebackType
from typing import Any, cast

from . import sandbox, wire
from .counting import LARGEST_COUNT, Counts
from .values import Described

OUT_OF_MEMORY = (
    *("can't allocate memory", "not enough memory", "bad_alloc", "Cannot allocate"),
    "CUDA out of memory",
)
CUT = "\n  ...\n"
UNSHOWN = "an exception that cannot be shown"
REPEATED = 3  # calls of one line that are shown
MOST_CALLS = 20  # at each end of a traceback
LARGEST_LINE = 2**31 - 1


class Answer:
    """The answer to one request. `finish` writes the fixed part, the others fill the rooms."""

    def __init__(self, slab: mmap.mmap, filename: str) -> None:
        self.slab = slab
        self.filename = filename
        self.status = "returned"
        self.line = 0
        self.values = 0
        self.changed = 0
        self.present = 0
        self.overwrote = False
        self.launches = 0
        self._lengths = dict.fromkeys((wire.ERROR, wire.TRACEBACK, wire.GRADIENT_ERROR), 0)

    def text(self, room: wire.Room, text: str) -> None:
        """Write text, cut in its middle if it is too long."""
        data = str.encode(text, "utf-8", "replace")  # text may be of a subclass of str
        if len(data) > room.size:
            half = (room.size - len(CUT)) // 2
            data = data[:half] + CUT.encode() + data[-half:]
        self.slab[room.start : room.start + len(data)] = data
        self._lengths[room] = len(data)

    def fail(self, status: str, error: str) -> None:
        """An answer without a value."""
        self.status = status
        self.text(wire.ERROR, error)

    def exception(self, error: BaseException) -> None:
        """What the submission raised: type, message and its own lines, never the harness's."""
        # Never isinstance: it asks the exception for its __class__.
        kind = type(error)
        if is_memory(error):
            self.status = "memory"
            sandbox.use_spare_memory()
        else:
            self.status = "exception"
        self.text(wire.ERROR, summary(error))
        runs = _runs(error.__traceback__, self.filename)
        if runs:
            self.line = runs[-1][0].tb_lineno
        lines = _format(runs)
        if any(kind is one for one in (SyntaxError, IndentationError, TabError)):  # `in` asks it
            syntax = cast(SyntaxError, error)
            if syntax.filename == self.filename:
                self.line = syntax.lineno or 0
                lines += traceback.format_exception_only(kind, error)
        self.text(wire.TRACEBACK, "".join(lines))

    def value(self, described: Described, output: int) -> None:
        """The header of one returned value; `output` is the buffer that holds its copy, or -1."""
        self.values += 1
        if self.values > wire.MAX_VALUES:
            return
        rank = min(len(described.shape), wire.MAX_RANK)
        code = wire.DTYPE_CODES.get(described.dtype, 0)
        name = described.name or ("" if code else described.dtype)
        wire.VALUE.pack_into(
            self.slab,
            wire.VALUES_AT + (self.values - 1) * wire.VALUE.size,
            described.kind,
            code,
            rank,
            output,
            *described.shape[:rank],
            *(0,) * (wire.MAX_RANK - rank),
            name.encode("utf-8", "replace")[:48],
        )

    def finish(self) -> None:
        """Write the fixed part; the answer is complete."""
        # A SyntaxError made by hand names any line that it likes.
        line = _line(self.line)
        wire.ANSWER.pack_into(
            self.slab,
            wire.ANSWER_AT,
            wire.MAGIC,
            wire.STATUSES.index(self.status),
            self.overwrote,
            min(self.launches, wire.MOST_LAUNCHES),
            line,
            min(self.values, 2**31),
            *self._lengths.values(),
            self.changed,
            self.present,
        )


def _line(line: object) -> int:
    return line if type(line) is int and 0 <= line <= LARGEST_LINE else 0


def forbidden(slab: mmap.mmap, operation: str, line: int) -> None:
    """Note a refused operation, at once."""
    wire.FORBIDDEN.pack_into(
        slab, wire.FORBIDDEN_AT, line, operation.encode("utf-8", "replace")[:64]
    )


def counts(slab: mmap.mmap, found: Counts) -> None:
    """Write what a counted call did."""
    fields: list[int] = [
        min(found.work, LARGEST_COUNT),
        min(found.flops, LARGEST_COUNT),
        min(found.operations, LARGEST_COUNT),
        min(found.held, LARGEST_COUNT),
        _line(found.line),
        found.unseen,
        found.by_hand,
    ]
    for made in (found.tensor, found.computed):
        shape = made.shape[: wire.COUNTED_RANK]
        fields += [min(made.elements, LARGEST_COUNT), _line(made.line)]
        fields += [wire.DTYPE_CODES.get(made.dtype, 0), len(shape), *shape]
        fields += [0] * (wire.COUNTED_RANK - len(shape))
    wire.COUNTS.pack_into(slab, wire.COUNTS_AT, *fields)


def device(slab: mmap.mmap, seconds: float, peak: int, kernels: int) -> None:
    """Write what a call on a device took."""
    wire.DEVICE.pack_into(
        slab, wire.DEVICE_AT, seconds, min(peak, LARGEST_COUNT), min(kernels, wire.MOST_LAUNCHES)
    )


def summary(error: BaseException) -> str:
    """`Type: message`, also where the exception's own __str__ fails."""
    return _safe(lambda: _summary(error), UNSHOWN)


def _summary(error: BaseException) -> str:
    name = type(error).__name__
    message = _safe(lambda: str(error), "(its message cannot be shown: __str__ failed)")
    return f"{name}: {message}" if message else name


def _safe(make: Callable[[], Any], otherwise: str) -> str:
    try:
        return str(make())
    except BaseException:
        return otherwise


def is_memory(error: BaseException) -> bool:
    """Whether the submission ran out of memory, in Python, in torch or at the system."""
    if issubclass(type(error), MemoryError):
        return True
    if issubclass(type(error), OSError):
        return error.errno == errno.ENOMEM  # type: ignore[attr-defined, no-any-return]
    if not issubclass(type(error), RuntimeError):
        return False
    message = _safe(lambda: str(error), "")
    return any(sign in message for sign in OUT_OF_MEMORY)


Run = tuple[TracebackType, int]  # a call, and how many more of the same line follow it


def _runs(entry: TracebackType | None, filename: str) -> list[Run]:
    """The calls in the submission's file; a deep recursion must not take long to tell."""
    runs: list[Run] = []
    while entry is not None:
        code = entry.tb_frame.f_code
        if code.co_filename == filename:
            last = runs[-1] if runs else None
            if last and last[0].tb_frame.f_code is code and last[0].tb_lineno == entry.tb_lineno:
                runs[-1] = (last[0], last[1] + 1)
            else:
                runs.append((entry, 0))
        entry = entry.tb_next
    return runs


def _format(runs: list[Run]) -> list[str]:
    """As Python shows a traceback, but for what is left out of a long one."""
    cut = len(runs) - 2 * MOST_CALLS
    if cut <= 0:
        return [text for run in runs for text in _format_run(run)]
    left_out = sum(1 + more for _, more in runs[MOST_CALLS:-MOST_CALLS])
    note = f"  [{left_out} calls left out]\n"
    return [*_format(runs[:MOST_CALLS]), note, *_format(runs[-MOST_CALLS:])]


def _format_run(run: Run) -> list[str]:
    entry, more = run
    lines = traceback.format_list(traceback.extract_tb(entry, limit=1))
    shown = lines * min(more + 1, REPEATED)
    unshown = more + 1 - REPEATED
    if unshown > 0:
        times = "time" if unshown == 1 else "times"
        shown.append(f"  [Previous line repeated {unshown} more {times}]\n")
    return shown
