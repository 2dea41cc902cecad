"""Writes a submission's answer into the slab: status, values, texts of errors."""

from __future__ import annotations

import mmap
import traceback
from collections.abc import Callable
from typing import Any

from . import sandbox, wire
from .values import Described

OUT_OF_MEMORY = ("can't allocate memory", "not enough memory", "bad_alloc", "Cannot allocate")
CUT = "\n  ...\n"


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
        self._lengths = dict.fromkeys((wire.ERROR, wire.TRACEBACK, wire.GRADIENT_ERROR), 0)

    def text(self, room: wire.Room, text: str) -> None:
        """Write text, cut in its middle if it is too long."""
        data = text.encode("utf-8", "replace")
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
        if isinstance(error, MemoryError) or _is_memory(error):
            self.status = "memory"
            sandbox.use_spare_memory()
        else:
            self.status = "exception"
        self.text(wire.ERROR, summary(error))
        frames = [
            frame
            for frame in traceback.extract_tb(error.__traceback__)
            if frame.filename == self.filename
        ]
        if frames:
            self.line = frames[-1].lineno or 0
        lines = traceback.StackSummary.from_list(frames).format()
        if isinstance(error, SyntaxError) and error.filename == self.filename:
            lines += traceback.format_exception_only(type(error), error)
            self.line = error.lineno or 0
        self.text(wire.TRACEBACK, "".join(lines))

    def value(self, described: Described, output: int) -> None:
        """The header of one returned value; `output` is the buffer that holds its copy, or -1."""
        self.values += 1
        if self.values > wire.MAX_VALUES:
            return
        rank = min(len(described.shape), wire.MAX_RANK)
        wire.VALUE.pack_into(
            self.slab,
            wire.VALUES_AT + (self.values - 1) * wire.VALUE.size,
            described.kind,
            wire.DTYPE_CODES.get(described.dtype, 0),
            rank,
            output,
            *described.shape[:rank],
            *(0,) * (wire.MAX_RANK - rank),
            described.name.encode("utf-8", "replace")[:48],
        )

    def finish(self) -> None:
        """Write the fixed part; the answer is complete."""
        wire.ANSWER.pack_into(
            self.slab,
            wire.ANSWER_AT,
            wire.MAGIC,
            wire.STATUSES.index(self.status),
            0,
            0,
            self.line,
            min(self.values, 2**31),
            *self._lengths.values(),
            self.changed,
            self.present,
        )


def forbidden(slab: mmap.mmap, operation: str, line: int) -> None:
    """Note a refused operation, at once."""
    wire.FORBIDDEN.pack_into(
        slab, wire.FORBIDDEN_AT, line, operation.encode("utf-8", "replace")[:64]
    )


def summary(error: BaseException) -> str:
    """`Type: message`, also where the exception's own __str__ fails."""
    return _safe(lambda: _summary(error), "an exception that cannot be shown")


def _summary(error: BaseException) -> str:
    name = type(error).__name__
    message = _safe(lambda: str(error), "(its message cannot be shown: __str__ failed)")
    return f"{name}: {message}" if message else name


def _safe(make: Callable[[], Any], otherwise: str) -> str:
    try:
        return str(make())
    except BaseException:
        return otherwise


def _is_memory(error: BaseException) -> bool:
    if not isinstance(error, RuntimeError):
        return False
    message = _safe(lambda: str(error), "")
    return any(sign in message for sign in OUT_OF_MEMORY)
