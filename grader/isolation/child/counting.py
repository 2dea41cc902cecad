"""Counts what a call does: a dispatch mode that sees each operation on its way to its kernel.

What is counted does not depend on the machine. It explains, and it is no proof of thrift: work in
other threads, or with a mode that was switched off, is missing, and some of NumPy's (`arrays`).
The judge also looks at the process from outside (`grader.isolation.usage`).

work      2 a multiply-add of a product, else elements: of the larger of input and result; of what
          is moved, for copies and indexing
tensor    each result with memory of its own; views are free
computed  floating results but for copies of the arguments: a cast, a padded copy, a stack of slices
"""

from __future__ import annotations

import contextlib
import math
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode

from . import arrays

VIEW, COMPOSITE, PRODUCT, CONVOLUTION, MOVE, WRITE, EMPTY, FILL, OTHER = range(9)

# Products, and which argument is the left matrix.
PRODUCTS = {
    **dict.fromkeys(("mm", "bmm", "mv", "dot", "vdot", "linear", "_int_mm"), 0),
    **dict.fromkeys(("addmm", "baddbmm", "addmv", "addbmm"), 1),
}
CONVOLUTIONS = frozenset({"convolution", "_convolution", "mkldnn_convolution"})


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


MOVES = _names(
    "_to_copy clone cat stack index index_select gather take embedding constant_pad_nd repeat roll "
    "flip lift_fresh slice_scatter select_scatter im2col tril triu"
)
WRITES = _names(
    "copy_ index_put_ _index_put_impl_ scatter_ index_copy_ index_add_ scatter_add_ put_ "
    "index_fill_ scatter_reduce_ index_reduce_ masked_scatter_"
)
EMPTIES = _names("empty empty_like empty_strided new_empty new_empty_strided resize_")
FILLS = _names(
    "zeros zeros_like ones ones_like full full_like new_zeros new_ones new_full fill_ zero_"
)
# They look like operations that write, and change the shape alone.
SHAPES = _names(
    "_unsafe_view squeeze_ unsqueeze_ t_ transpose_ swapaxes_ swapdims_ detach_ set_ as_strided_ "
    "requires_grad_"
)
IMPLICIT = torch._C.DispatchKey.CompositeImplicitAutograd
LARGEST_COUNT = 2**62
BY_HAND = 8
"""Operations taken to be done with a number that Python has by itself."""


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
    tensor: Made = field(default_factory=Made)
    computed: Made = field(default_factory=Made)
    arrays: bool = False  # whether a tensor became an array, of which not all can be seen
    lines: dict[int, int] = field(default_factory=dict)  # line -> work

    @property
    def line(self) -> int:
        """The line that does most of the work."""
        return max(self.lines, key=lambda line: self.lines[line], default=0)


@dataclass(frozen=True)
class Operation:
    """What is to be known of an operation. `left`: which argument of a product is its matrix."""

    kind: int
    writes: bool
    left: int

    @classmethod
    def of(cls, func: Any) -> Operation:
        """Look at its schema, once."""
        name = _name(func)
        kind = _kind(func, name)
        writes = kind == WRITE or bool(func._schema.is_mutable)
        return cls(kind, writes, PRODUCTS.get(name.removesuffix("_"), 0))


class Counter(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Counts the operations of this thread, with the lines of the file `filename`."""

    def __init__(self, filename: str) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.filename = filename
        self.counts = Counts()
        self._operations: dict[Any, Operation] = {}
        self._blank: set[int] = set()  # memory that was only allocated or filled
        self._derived: set[int] = set()  # memory that holds computed numbers

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
        work = _work(operation, args, given, made)
        if operation.kind in (PRODUCT, CONVOLUTION):
            counts.flops += work
        counts.work += work
        counts.lines[line] = counts.lines.get(line, 0) + work
        for tensor in made:
            if not operation.writes and tensor.numel() > counts.tensor.elements:
                counts.tensor.note(tensor, tensor.numel(), line)
            if tensor.is_floating_point() or tensor.is_complex():
                sources = given[1:] if operation.writes else given
                self._trace(operation.kind, tensor, sources, operation.writes, line)

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
        """Count an operation of NumPy, by the same rules."""
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
                if value.dtype.kind == "f":
                    self.counts.computed.note(value, value.size, line)

    def handed(self, numbers: int) -> None:
        """Count numbers that became Python's own: what is done with them cannot be seen."""
        self.counts.work += BY_HAND * numbers

    def left(self) -> None:
        """Keep in mind that a tensor became an array."""
        self.counts.arrays = True

    def _line(self) -> int:
        frame = sys._getframe(2)
        while frame is not None:
            if frame.f_code.co_filename == self.filename:
                return frame.f_lineno
            if frame.f_back is None:
                break
            frame = frame.f_back
        return 0


def _name(func: Any) -> str:
    return str(func._schema.name).partition("::")[2]


def _kind(func: Any, name: str) -> int:
    for kind, names in ((MOVE, MOVES), (WRITE, WRITES), (EMPTY, EMPTIES), (FILL, FILLS)):
        if name in names:
            return kind
    if name in SHAPES:
        return VIEW
    if name in CONVOLUTIONS:
        return CONVOLUTION
    if _is_composite(func):
        return COMPOSITE
    if name.removesuffix("_") in PRODUCTS:
        return PRODUCT
    returned = [r.alias_info for r in func._schema.returns]
    return VIEW if any(info is not None and not info.is_write for info in returned) else OTHER


def _is_composite(func: Any) -> bool:
    has_kernel = torch._C._dispatch_has_kernel_for_dispatch_key
    return bool(has_kernel(func.name(), "CompositeImplicitAutograd"))


def _tensors(values: Any) -> list[Tensor]:
    found: list[Tensor] = []
    for value in values:
        if isinstance(value, Tensor):
            found.append(value)
        elif isinstance(value, (tuple, list)):
            found += [item for item in value if isinstance(item, Tensor)]
    return found


def _work(operation: Operation, args: Any, given: list[Tensor], made: list[Tensor]) -> int:
    kind = operation.kind
    if kind == PRODUCT:
        left, right = args[operation.left], args[operation.left + 1]
        columns = made[0].shape[-1] if right.dim() > 1 else 1
        return 2 * int(left.numel()) * columns
    if kind == CONVOLUTION:
        return 2 * made[0].numel() * int(args[1][0].numel())
    if kind == EMPTY:
        return 0
    if kind in (MOVE, FILL):
        return sum(tensor.numel() for tensor in made)
    if kind == WRITE:
        return max((tensor.numel() for tensor in given[1:]), default=1)
    return max((tensor.numel() for tensor in (*given, *made)), default=0)


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
    try:
        with seen:
            result = function(*args, **kwargs)
    finally:
        # The function may have taken the mode off the stack.
        with contextlib.suppress(Exception):
            counter.__exit__(None, None, None)  # type: ignore[no-untyped-call]
    return result, counter.counts
