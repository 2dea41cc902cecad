"""The judge's side of a slab: it lays out the buffers, and reads them back into its own memory.

The judge never maps a slab: it writes and reads by descriptor, so that a submission that cuts the
file short costs it a short read, not a signal.
"""

from __future__ import annotations

import json
import math
import os
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch

from grader.characters import is_shown
from grader.isolation.calls import Call, Counts, Header, Made, OutputSpec
from grader.isolation.child import wire

UNWRITTEN = b"\xff"  # NaN in every float dtype, -1 in integers, no boolean


class BrokenAnswer(Exception):
    """The answer breaks the protocol: a field is out of its range, or bytes are missing."""


@dataclass(frozen=True)
class Fixed:
    """The fixed part of an answer, every field in its range."""

    status: str
    line: int | None
    headers: list[Header]
    copies: list[int]  # for each header: the output whose buffer holds a copy, or -1
    changed: int
    present: int
    overwrote: bool
    launches: int
    error: str
    traceback: str
    gradient_error: str


@dataclass
class Slab:
    """One request's memory. Use as a context manager."""

    request: dict[str, Any]
    blobs: dict[int, memoryview] = field(default_factory=dict)  # offset -> bytes to write
    blanks: dict[int, int] = field(default_factory=dict)  # offset -> length to pre-fill
    size: int = 0
    descriptor: int = -1
    framework: str = "torch"

    def __enter__(self) -> Slab:
        data = json.dumps(self.request).encode()
        start = wire.REQUEST_AT + wire.REQUEST_LENGTH.size
        first = min((*self.blobs, *self.blanks, self.size))
        if start + len(data) > first:
            raise ValueError("the request is too long for its room")
        self.descriptor = _new_file(self.size)
        length = wire.REQUEST_LENGTH.pack(len(data))
        self._write(wire.REQUEST_AT, memoryview(length))
        self._write(start, memoryview(data))
        for at, blob in self.blobs.items():
            self._write(at, blob)
        for at, count in self.blanks.items():
            self._write(at, memoryview(UNWRITTEN * count))
        return self

    def __exit__(self, *_: object) -> None:
        if self.descriptor >= 0:
            os.close(self.descriptor)
            self.descriptor = -1

    def _write(self, at: int, data: memoryview) -> None:
        while data:
            written = os.pwrite(self.descriptor, data, at)
            at, data = at + written, data[written:]

    def read(self, at: int, count: int) -> bytearray:
        """A private copy of `count` bytes. Raises BrokenAnswer if the file was cut short."""
        data = bytearray(count)
        view, done = memoryview(data), 0
        while done < count:
            got = _read_into(view[done:], self.descriptor, at + done)
            if not got:
                raise BrokenAnswer("the shared memory was cut short")
            done += got
        return data

    def forbidden(self) -> tuple[str, int | None]:
        """Name and line of the operation that was refused last."""
        line, name = wire.FORBIDDEN.unpack(self.read(wire.FORBIDDEN_AT, wire.FORBIDDEN.size))
        return clean(name.rstrip(b"\0")), line if line > 0 else None

    def fixed(self) -> Fixed:
        """Read and check the fixed part. Raises BrokenAnswer."""
        head = bytes(self.read(0, wire.REQUEST_AT))
        magic, status, overwrote, launches, line, values, *lengths, changed, present = (
            wire.ANSWER.unpack_from(head, wire.ANSWER_AT)
        )
        if magic != wire.MAGIC or not 0 < status < len(wire.STATUSES):
            raise BrokenAnswer("the answer has no status")
        texts = []
        rooms = (wire.ERROR, wire.TRACEBACK, wire.GRADIENT_ERROR)
        for room, length in zip(rooms, lengths, strict=True):
            if length > room.size:
                raise BrokenAnswer("a text is longer than its room")
            texts.append(clean(head[room.start : room.start + length]))
        if values > 1 << 31:
            raise BrokenAnswer("the number of values is out of range")
        described = [self._header(head, index) for index in range(min(values, wire.MAX_VALUES))]
        return Fixed(
            wire.STATUSES[status],
            line if line > 0 else None,
            [header for header, _ in described],
            [copy for _, copy in described],
            changed,
            present,
            bool(overwrote),
            launches,
            *texts,
        )

    def _header(self, head: bytes, index: int) -> tuple[Header, int]:
        kind, dtype, rank, copy, *rest = wire.VALUE.unpack_from(
            head, wire.VALUES_AT + index * wire.VALUE.size
        )
        shape, name = tuple(rest[:rank]), clean(rest[-1].rstrip(b"\0"))
        if kind > wire.KIND_OTHER or dtype >= len(wire.DTYPE_NAMES) or rank > wire.MAX_RANK:
            raise BrokenAnswer("a value's header is out of range")
        if any(size < 0 for size in shape) or (copy >= 0 and copy != index):
            raise BrokenAnswer("a value's header is out of range")
        plain = wire.KIND_ARRAY if self.framework == "numpy" else wire.KIND_TENSOR
        words = ("tensor", "array") if kind == plain else ("torch tensor", "NumPy array")
        word = (*words, name or "unknown")[kind]
        known = wire.DTYPE_NAMES[dtype]
        if kind != wire.KIND_OTHER and not known:
            known = name or "unknown"
            if known in wire.DTYPES:  # each of these is told by its code
                raise BrokenAnswer("a value's header is out of range")
        return Header(shape, known, word), copy

    def tensor(self, at: int, shape: Sequence[int], dtype: str) -> torch.Tensor:
        """A private copy of a buffer. Raises BrokenAnswer for a bool that is neither 0 nor 1."""
        if math.prod(shape) == 0:
            return torch.empty(tuple(shape), dtype=getattr(torch, dtype))
        data = self.read(at, math.prod(shape) * wire.DTYPES[dtype])
        if dtype == "bool" and max(data) > 1:
            raise BrokenAnswer("a boolean output holds other bytes than 0 and 1")
        return torch.frombuffer(data, dtype=getattr(torch, dtype)).view(tuple(shape))


class CallSlab(Slab):
    """The slab of one call: arguments, cotangents, and rooms for outputs and gradients."""

    def __init__(self, call: Call, framework: str) -> None:
        arguments = [*call.args, *call.kwargs.values()]
        if len(arguments) > wire.MAX_INPUTS or len(call.outputs) > wire.MAX_VALUES:
            raise ValueError("a call has at most 64 arguments and 16 outputs")
        super().__init__({}, framework=framework)
        self.call = call
        # Room for the request's text: a few hundred bytes a buffer at most.
        buffers = len(arguments) + len(call.outputs) + len(call.cotangents) + len(call.gradients)
        self.size = wire.REQUEST_AT + _aligned(1024 + 512 * buffers + 64 * len(call.kwargs))
        self.originals: dict[int, tuple[int, memoryview]] = {}
        wanted = set(call.gradients)
        described = [self._argument(i, value, i in wanted) for i, value in enumerate(arguments)]
        self.outputs = [self._output(spec) for spec in call.outputs]
        self.gradients = [self._gradient(call.args[i]) for i in call.gradients]
        self.request = {
            "args": described,
            "positional": len(call.args),
            "keywords": list(call.kwargs),
            "outputs": self.outputs,
            "gradients": call.gradients,
            "count": call.count,
            "recorded": call.recorded,
            "measure": call.measure,
            "gradient_buffers": self.gradients,
            "cotangents": [
                None if tensor is None else self._tensor(tensor) for tensor in call.cotangents
            ],
        }

    def _place(self, count: int) -> int:
        at = self.size
        self.size += _aligned(count)
        return at

    def _tensor(self, tensor: torch.Tensor) -> dict[str, Any]:
        data = raw(tensor)
        at = self._place(len(data))
        self.blobs[at] = data
        return {"dtype": _name(tensor.dtype), "shape": list(tensor.shape), "at": at}

    def _argument(self, index: int, value: Any, gradient: bool) -> dict[str, Any]:
        if not isinstance(value, torch.Tensor):
            return {"value": value}
        described = self._tensor(value)
        self.originals[index] = (described["at"], self.blobs[described["at"]])
        strided = self.call.strided and value.is_floating_point()
        return {**described, "gradient": gradient, "strided": strided}

    def _output(self, spec: OutputSpec) -> dict[str, Any]:
        count = math.prod(spec.shape) * max(wire.DTYPES[dtype] for dtype in spec.dtypes)
        at = self._place(count)
        self.blanks[at] = count
        return {"dtypes": list(spec.dtypes), "shape": list(spec.shape), "at": at}

    def _gradient(self, value: Any) -> dict[str, Any]:
        dtype = _name(value.dtype)
        count = value.numel() * wire.DTYPES[dtype]
        at = self._place(count)
        self.blanks[at] = count
        return {"dtype": dtype, "shape": list(value.shape), "at": at}

    def changed(self, metadata: int) -> list[int]:
        """Indices of arguments whose bytes differ from ours, or whose metadata moved."""
        return [
            index
            for index, (at, original) in self.originals.items()
            if metadata >> index & 1 or self.read(at, len(original)) != original
        ]

    def counts(self) -> Counts | None:
        """What a counted call says that it did; None where it was not counted."""
        if not self.call.count:
            return None
        fields = wire.COUNTS.unpack(self.read(wire.COUNTS_AT, wire.COUNTS.size))
        work, flops, operations, held, line, unseen, by_hand, *rest = fields
        half = len(rest) // 2
        most = line if line > 0 else None
        tensors = _made(rest[:half]), _made(rest[half:])
        seen = operations, held, bool(unseen), bool(by_hand)
        return Counts(work, flops, most, *tensors, *seen)

    def device(self) -> tuple[float, int, int]:
        """What a call on a device says of itself: seconds, bytes at their highest, kernels."""
        fields = wire.DEVICE.unpack(self.read(wire.DEVICE_AT, wire.DEVICE.size))
        seconds, peak, kernels = fields
        if not 0 <= seconds < math.inf:
            raise BrokenAnswer("a time is out of range")
        return seconds, peak, kernels

    def output_tensors(self, fixed: Fixed) -> list[torch.Tensor | None]:
        """A private copy of each output that fits its spec, else None."""
        found: list[torch.Tensor | None] = []
        for index, buffer in enumerate(self.outputs):
            header = fixed.headers[index] if index < len(fixed.headers) else None
            fits = (
                header is not None
                and header.kind in ("tensor", "array")
                and header.dtype in buffer["dtypes"]
                and list(header.shape) == buffer["shape"]
            )
            # Both ways: an answer without values must not look like one that fits.
            if fits != (header is not None and fixed.copies[index] == index):
                raise BrokenAnswer("an output claims to fit and does not")
            found.append(
                self.tensor(buffer["at"], buffer["shape"], header.dtype)
                if header is not None and fits
                else None
            )
        return found

    def gradient_tensors(self, present: int) -> list[torch.Tensor | None]:
        """A private copy of each gradient, None where there is none."""
        return [
            self.tensor(buffer["at"], buffer["shape"], buffer["dtype"])
            if present >> index & 1
            else None
            for index, buffer in enumerate(self.gradients)
        ]


def _made(fields: Sequence[int]) -> Made | None:
    elements, line, dtype, rank, *shape = fields
    if dtype >= len(wire.DTYPE_NAMES) or rank > wire.COUNTED_RANK or min(shape) < 0:
        raise BrokenAnswer("a count is out of range")
    if not elements:
        return None
    return Made(elements, tuple(shape[:rank]), wire.DTYPE_NAMES[dtype], line if line > 0 else None)


def load_slab(
    source: bytes, entry: str, filename: str, framework: str, built: Mapping[str, bytes]
) -> Slab:
    """The slab that carries the submission's source, and the libraries that are `built`."""
    at = wire.REQUEST_AT + _aligned(8192 + 8 * len(filename))
    end = at + _aligned(len(source))
    blobs, placed = {at: memoryview(source)}, []
    for name, data in built.items():
        placed.append([name, end, len(data)])
        blobs[end] = memoryview(data)
        end += _aligned(len(data))
    request = {
        "entry": entry,
        "filename": filename,
        "framework": framework,
        "at": at,
        "bytes": len(source),
        "built": placed,
    }
    return Slab(request, blobs, size=end)


def raw(tensor: torch.Tensor) -> memoryview:
    """The bytes of a CPU tensor, in order."""
    flat = tensor.detach().contiguous().reshape(-1)
    if not flat.numel():
        return memoryview(b"")
    return memoryview(flat.view(torch.uint8).numpy().data).cast("B")


def clean(data: bytes) -> str:
    """Text from a submission, fit for a terminal: nothing that it obeys, or that cannot be seen."""
    text = data.decode("utf-8", "replace").replace("\r\n", "\n")
    return "".join(c for c in text if is_shown(c) or c in "\n\t")


def _aligned(count: int) -> int:
    return -(-count // wire.ALIGNMENT) * wire.ALIGNMENT


def _name(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")


def _read_into(view: memoryview, descriptor: int, at: int) -> int:
    if hasattr(os, "preadv"):
        return os.preadv(descriptor, [view], at)
    data = os.pread(descriptor, len(view), at)  # before macOS 11
    view[: len(data)] = data
    return len(data)


def _new_file(size: int) -> int:
    if hasattr(os, "memfd_create"):
        descriptor = os.memfd_create("drill", os.MFD_CLOEXEC)
    else:
        with tempfile.TemporaryFile() as file:
            descriptor = os.dup(file.fileno())
    os.ftruncate(descriptor, size)
    return descriptor
