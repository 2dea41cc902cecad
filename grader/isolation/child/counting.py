"""Counts what a call does: a dispatch mode that sees each operation on its way to its kernel.

What is counted does not depend on the machine. It explains, and it is no proof of thrift. Work with
a mode that was switched off is missing (`counting_recorded` sees it), as are other threads' and
some of NumPy's (`arrays`), and what Python does with numbers of its own: the judge then looks at
the process from outside (`grader.isolation.usage`).

work      as `counting_operations` has it
held      bytes of all tensors that are alive at once, the arguments apart
tensor    each result with memory of its own; views are free
computed  floating results but for copies of the arguments: a cast, a padded copy, a stack of slices
"""

from __future__ import annotations

import contextlib
import math
import sys
import time
import weakref
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode

from . import arrays
from .counting_operations import (
    COMPOSITE,
    CONVOLUTION,
    EMPTY,
    FILL,
    IMPLICIT,
    MOVE,
    PRODUCT,
    VIEW,
    WRITE,
    Operation,
    work_of,
)

LARGEST_COUNT = 2**62
BY_HAND = 8
"""Operations taken to be done with a number that Python has by itself."""

MUCH_BY_HAND = 0.1
"""Of the work: less, a list of tokens say, is no place to compute or to keep anything."""

ELSEWHERE = 0.1
"""Of a call's processor time: less in other threads is the noise of the clocks."""


@dataclass
class Made:
    """The largest tensor of its kind so far; `line` is the submission's, 0 where it is in none."""

    elements: int = 0
    shape: tuple[int, ...] = ()
    dtype: str = ""
    line: int = 0

    def note(self, tensor: Any, elements: int, line: int) -> None:
        """Keep `tensor`, or an array, if it is larger. `elements`: of all the memory that it lies
        in."""
        if elements > self.elements:
            self.elements, self.line = elements, line
            shape = tuple(tensor.shape)
            self.shape = shape if math.prod(shape) == elements else (elements,)
            self.dtype = str(tensor.dtype).removeprefix("torch.")


@dataclass
class Counts:
    """The sums of one call."""

    work: int = 0
    flops: int = 0
    operations: int = 0
    tensor: Made = field(default_factory=Made)
    computed: Made = field(default_factory=Made)
    held: int = 0
    unseen: bool = False  # whether arrays or other threads did what cannot all be seen
    by_hand: bool = False  # whether Python could, with numbers of its own
    lines: dict[int, int] = field(default_factory=dict)  # line -> work

    @property
    def line(self) -> int:
        """The line that does most of the work."""
        return max(self.lines, key=lambda line: self.lines[line], default=0)


class Counter(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Counts the operations of this thread, with the lines of the file `filename`."""

    def __init__(self, filename: str) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.filename = filename
        self.counts = Counts()
        self._operations: dict[Any, Operation] = {}
        self._blank: set[int] = set()  # memory that was only allocated or filled
        self._derived: set[int] = set()  # memory that holds computed numbers
        self._alive: dict[int, weakref.ref[Any]] = {}  # memory that a tensor lies in
        self._held = 0  # its bytes
        self._by_hand = 0  # work taken to be done with numbers that became Python's own

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        return False  # to be left alone by it costs its import: two seconds

    def __torch_dispatch__(
        self, func: Any, types: Any, args: Any = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        kwargs = kwargs or {}
        operation = self._operations.get(func)
        if operation is None:
            operation = self._operations[func] = Operation.of(func)
        if operation.kind == COMPOSITE:  # as it comes in inference mode: count what it is made of
            with self:  # not func.decompose: where torch has one in Python, that imports seconds
                return func._op_dk(IMPLICIT, *args, **kwargs)
        result = func(*args, **kwargs)
        try:
            if operation.kind == VIEW:
                self._reshape(result)
            else:
                self.counts.operations += 1
                self._note(operation, args, kwargs, result)
        except Exception:  # a count may fall short, but never fails what ran
            return result
        return result

    def _reshape(self, view: Any) -> None:
        """A product of four dimensions is one of three, then a view: tell the shape in the end."""
        for made in (self.counts.tensor, self.counts.computed):
            same = isinstance(view, Tensor) and view.numel() == made.elements
            if same and made.line == self._line():
                made.shape = tuple(view.shape)

    def _note(self, operation: Operation, args: Any, kwargs: dict[str, Any], result: Any) -> None:
        made = _tensors(result if isinstance(result, (tuple, list)) else (result,))
        given = _tensors(args)
        if kwargs:
            given += _tensors(kwargs.values())
        line = self._line()
        counts = self.counts
        work = work_of(operation, args, given, made)
        if operation.kind in (PRODUCT, CONVOLUTION):
            counts.flops += work
        counts.work += work
        counts.lines[line] = counts.lines.get(line, 0) + work
        for tensor in made:
            if not operation.writes:
                self._hold(tensor)
                if tensor.numel() > counts.tensor.elements:
                    counts.tensor.note(tensor, tensor.numel(), line)
            if tensor.is_floating_point() or tensor.is_complex():
                sources = given[1:] if operation.writes else given
                self._trace(operation.kind, tensor, sources, operation.writes, line)

    def _hold(self, tensor: Tensor) -> None:
        """Count the memory of `tensor` until nothing lies in it any more."""
        memory = tensor.untyped_storage()
        at = id(memory)
        if at in self._alive:
            return
        size = memory.nbytes()

        def free(_: object) -> None:
            self._held -= size
            self._alive.pop(at, None)

        self._alive[at] = weakref.ref(memory, free)
        self._held += size
        self.counts.held = max(self.counts.held, self._held)

    def _trace(
        self, kind: int, tensor: Tensor, sources: list[Tensor], written: bool, line: int
    ) -> None:
        """Follow what is a copy of the arguments, and what is computed."""
        memory = tensor.untyped_storage()
        at = memory.data_ptr()
        if kind in (EMPTY, FILL):
            if not written:
                self._derived.discard(at)
                self._blank.add(at)
            return
        if kind in (MOVE, WRITE):
            floating = [source for source in sources if source.is_floating_point()]
            if not any(s.untyped_storage().data_ptr() in self._derived for s in floating):
                if floating:
                    self._blank.discard(at)
                if not written:
                    self._derived.discard(at)
                return
        elements = tensor.numel()
        if written and at in self._blank:  # its own buffer: all of it was made for this
            elements = memory.nbytes() // tensor.element_size()
        elif not written:
            self._blank.discard(at)
        self._derived.add(at)
        if kind != WRITE or at in self._blank:
            self.counts.computed.note(tensor, elements, line)

    def array(self, name: str, given: list[Any], made: list[Any]) -> None:
        """Count an operation of NumPy, by the same rules; one without a name computes nothing."""
        line = self._line()
        work = max((int(np.size(value)) for value in (*given, *made)), default=0)
        if name == "matmul":
            columns = given[1].shape[-1] if given[1].ndim > 1 else 1
            work = 2 * int(given[0].size) * columns
            self.counts.flops += work
        self.counts.work += work
        self.counts.lines[line] = self.counts.lines.get(line, 0) + work
        for value in made:
            if isinstance(value, np.ndarray):
                self.counts.tensor.note(value, value.size, line)
                if name and value.dtype.kind == "f":
                    self.counts.computed.note(value, value.size, line)

    def handed(self, numbers: int) -> None:
        """Count numbers that became Python's own: what is done with them cannot be seen."""
        self.counts.work += BY_HAND * numbers
        self._by_hand += BY_HAND * numbers

    def left(self) -> None:
        """Keep in mind that a tensor became an array."""
        self.counts.unseen = True

    def end(self, elsewhere: bool) -> None:
        """Say whether all was seen. `elsewhere`: other threads computed."""
        self.counts.unseen |= elsewhere
        self.counts.by_hand = self._by_hand > MUCH_BY_HAND * self.counts.work

    def _line(self) -> int:
        frame = sys._getframe(2)
        while frame is not None:
            if frame.f_code.co_filename == self.filename:
                return frame.f_lineno
            if frame.f_back is None:
                break
            frame = frame.f_back
        return 0


def _tensors(values: Any) -> list[Tensor]:
    found: list[Tensor] = []
    for value in values:
        if isinstance(value, Tensor):
            found.append(value)
        elif isinstance(value, (tuple, list)):
            found += [item for item in value if isinstance(item, Tensor)]
    return found


def counted(
    function: Callable[..., Any], args: list[Any], kwargs: dict[str, Any], filename: str
) -> tuple[Any, Counts]:
    """Call `function` and count what it does. What it raises is raised."""
    try:
        return _counted(function, args, kwargs, filename, watch=True)
    except Exception:  # of our kind of array, if it does not come again
        return _counted(function, args, kwargs, filename, watch=False)


def _counted(
    function: Callable[..., Any],
    args: list[Any],
    kwargs: dict[str, Any],
    filename: str,
    watch: bool,
) -> tuple[Any, Counts]:
    counter = Counter(filename)
    counter.__enter__()  # type: ignore[no-untyped-call]
    seen = (
        arrays.watched(counter.array, counter.handed, counter.left)
        if watch
        else contextlib.nullcontext()
    )
    whole, own = time.process_time(), time.thread_time()
    try:
        with seen:
            result = function(*args, **kwargs)
    finally:
        whole, own = time.process_time() - whole, time.thread_time() - own
        counter.end(elsewhere=whole - own > ELSEWHERE * whole)
        # The function may have taken the mode off the stack.
        with contextlib.suppress(Exception):
            counter.__exit__(None, None, None)  # type: ignore[no-untyped-call]
    return result, counter.counts
