"""What the judge asks of a submission, and what it learns: plain dataclasses, no torch import."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from torch import Tensor

Status = Literal[
    "returned",
    "exception",
    "timeout",
    "died",
    "memory",
    "output",
    "resource",
    "forbidden",
    "denied",
    "protocol",
    "syntax",
    "missing",
    "not-callable",
    "no-device",
]
"""`syntax`, `missing`, `not-callable` and `no-device` are answers of `load` alone."""

FATAL = frozenset({"timeout", "died", "memory", "output", "protocol"})
"""After one of these the worker is dead."""


@dataclass(frozen=True)
class Limits:
    """Limits of one submission. `seconds` is the judge's clock, for the load and each call."""

    seconds: float = 10.0
    memory_bytes: int = 4 << 30
    output_bytes: int = 64 << 20
    file_bytes: int = 64 << 20
    threads: int = 128  # of one process


def limits_of(seconds: float, accelerator: str = "") -> Limits:
    """The limits of a submission. On a GPU CUDA's own libraries take gigabytes, and a build's files
    are large."""
    if not accelerator:
        return Limits(seconds=seconds)
    return Limits(seconds=seconds, memory_bytes=24 << 30, file_bytes=256 << 20)


@dataclass(frozen=True)
class OutputSpec:
    """One output: its exact shape and the accepted dtypes by name, the preferred one first."""

    shape: tuple[int, ...]
    dtypes: tuple[str, ...]


@dataclass(frozen=True)
class Call:
    """One call of the entry.

    `args` and `kwargs` hold CPU tensors, int, float, bool or None. `gradients` are indices of
    tensors in `args` whose gradients are wanted, for the sum over the outputs of
    output * cotangent; `cotangents` then has one entry for each output (None: leave it out).
    `seconds` is what is left of a stage, where that is less than the limit of a call. `count`
    asks for `Outcome.counts`; with `recorded`, from torch's own record of operations, which
    knows the work alone, but also that of code which keeps Python out of the dispatcher.
    `measure` asks for `Outcome.usage`, or on a device for `Outcome.taken`, where "kernels" is
    known too. A call that is counted takes longer; where the memory is measured, freed memory
    goes back to the system at once. `strided` gives the tensors as parts of larger ones, which
    are not contiguous.
    """

    args: list[Tensor | int | float | bool | None]
    kwargs: dict[str, Tensor | int | float | bool | None] = field(default_factory=dict)
    outputs: list[OutputSpec] = field(default_factory=list)
    gradients: list[int] = field(default_factory=list)
    cotangents: list[Tensor | None] = field(default_factory=list)
    seconds: float = math.inf
    count: bool = False
    recorded: bool = False
    measure: Literal["", "time", "memory", "kernels"] = ""
    strided: bool = False


@dataclass(frozen=True)
class Made:
    """A tensor that a call made. `line` is the submission's, None where it is in none."""

    elements: int
    shape: tuple[int, ...]
    dtype: str
    line: int | None


@dataclass(frozen=True)
class Counts:
    """What a call did, as counted in its own process: it can be too low, where code hides its work.

    `work` is `flops` (2 a multiply-add of a product) and the elements that all else reads, makes
    or moves; `line` does most of it; `operations` are those that torch dispatched, views apart.
    `tensor` is the largest that was made; `computed` the largest floating one that is no copy of
    the arguments; `held` the bytes of the tensors that were alive
    at once; `unseen`: whether a tensor became a NumPy array, or another thread computed, of which
    not all can be counted; `by_hand`: whether so many numbers became Python's own.
    """

    work: int
    flops: int
    line: int | None
    tensor: Made | None
    computed: Made | None
    operations: int = 0
    held: int = 0
    unseen: bool = False
    by_hand: bool = False


@dataclass(frozen=True)
class Usage:
    """What a call used, read from outside its process: seconds of processor time, and how far the
    memory rose in bytes, arguments and results included. `between`: seconds of
    processor time since the last call that was measured, while nobody had asked for anything."""

    cpu_seconds: float
    peak_bytes: int
    between: float = 0.0


@dataclass(frozen=True)
class Taken:
    """What a measured call on a device took. `wall` is the judge's own: seconds from its word to
    the one that all work is done, `after` from there to the answer. `seconds` by the device's
    clock, the `peak` of bytes held and the `kernels` launched are told by the process itself."""

    seconds: float = 0.0
    peak: int = 0
    kernels: int = 0
    wall: float = 0.0
    after: float = 0.0


@dataclass(frozen=True)
class Header:
    """What one returned value is.

    `kind` is "tensor" or "array" for a plain dense CPU value of the asked framework, otherwise
    what it is instead: a type's name ("list", "None", "generator"), "Tensor subclass", "sparse",
    "meta". `shape` is () and `dtype` "" where the value has none; a dtype without a code in `wire`
    is the submission's word for it.
    """

    shape: tuple[int, ...]
    dtype: str
    kind: str


@dataclass(frozen=True)
class Outcome:
    """What came of a load or a call. Tensors are the judge's own copies.

    `headers` has one entry for each returned value (at most 16), `outputs` one for each
    OutputSpec, None where the value is absent or of another kind, shape or dtype. `gradients` has
    one entry for each asked gradient, None where the graph does not reach that input.
    `inputs_changed` lists indices: positional arguments first, then the keywords in order.
    """

    status: Status
    headers: list[Header] = field(default_factory=list)
    outputs: list[Tensor | None] = field(default_factory=list)
    gradients: list[Tensor | None] = field(default_factory=list)
    gradient_error: str = ""
    inputs_changed: list[int] = field(default_factory=list)
    overwrote: bool = False  # what the call before had returned holds other numbers now
    launches: int = 0  # of Triton kernels, under its interpreter
    error: str = ""  # "ZeroDivisionError: division by zero"
    traceback: str = ""  # the learner's lines only
    line: int | None = None
    detail: dict[str, int | str | float | bool] = field(default_factory=dict)
    seconds: float = 0.0
    stdout: str = ""
    counts: Counts | None = None
    usage: Usage | None = None
    taken: Taken | None = None
    denials: tuple[str, ...] = ()  # what it tried in vain: keys of `seccomp.DENIED`
