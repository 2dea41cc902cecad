"""Kernel questions: code questions that are also judged by shapes, memory, fusion and speed."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from questions.schema.code import Case, CodeQuestion, Input
from questions.schema.common import DottedName, Dtype, Line, Name, Slug, Strict


class Interpret(Strict):
    """What a Triton kernel gets under Triton's interpreter: values and shapes alone.

    `cases` are ids of `cases` and `support`. The interpreter runs one program after the other, in
    NumPy: a few blocks of one or two heads take a second. Its bfloat16 products are not to be
    trusted, so that dtype is left out.
    """

    cases: tuple[Slug, ...] = Field(min_length=1, max_length=12)
    dtypes: tuple[Literal["float32", "float16"], ...] = ("float32", "float16")


class Slope(Strict):
    """How memory grows with a length, by a straight line through the logarithms.

    The call is made at `sizes` with each of `lengths` in place of every one of `symbols`. The
    largest tensor made (counted) and the rise of the process's memory (read from outside) may grow
    as the length to the power `at_most`: 1 is linear, 2 would be a score matrix.
    """

    sizes: dict[Name, int]
    symbols: tuple[Name, ...] = Field(min_length=1)
    lengths: tuple[int, ...] = Field(min_length=3, max_length=6)
    at_most: float = Field(gt=0, le=3)
    inputs: dict[Name, Input] = Field(default_factory=dict)


class Tier(Strict):
    """A rung of the ladder of speeds: at least so many times as fast as naive attention, or within
    so many times of torch's own fused attention (exactly one of the two)."""

    name: Line
    times_naive: float | None = Field(None, gt=0)
    within_fused: float | None = Field(None, ge=1)


class Speed(Strict):
    """Speed on one thread of the CPU, as a ratio of processor times, told and never failed.

    `naive` and `fused` are functions with the entry's arguments, in modules that need torch alone:
    they run in processes of their own, as the submission does. `tiers` go from slow to fast.
    """

    sizes: dict[Name, int]
    naive: DottedName
    fused: DottedName
    tiers: tuple[Tier, ...] = Field(min_length=2, max_length=8)
    inputs: dict[Name, Input] = Field(default_factory=dict)
    dtype: Dtype = "float32"


class Shape(Strict):
    """One call of `Paths`: what differs from the sizes and inputs there. `strided` gives inputs
    that are not contiguous."""

    title: Line
    sizes: dict[Name, int] = Field(default_factory=dict)
    inputs: dict[Name, Input] = Field(default_factory=dict)
    strided: bool = False


class Paths(Strict):
    """Calls of nearly the same work, among which a slow path stands out: told and never failed.

    Each of `shapes` changes one thing. The processor time of each, over that of `speed.fused` at
    the same shape, is compared with that of the others, so most of them should take the usual way
    whatever a kernel falls back on.
    """

    sizes: dict[Name, int]
    shapes: tuple[Shape, ...] = Field(min_length=5, max_length=24)
    inputs: dict[Name, Input] = Field(default_factory=dict)


class CudaSpeed(Strict):
    """The call that is timed on a GPU, in place of that of `Speed`, by the same functions, and the
    ladder there. `read`: the part of the arguments that every right kernel reads."""

    sizes: dict[Name, int]
    inputs: dict[Name, Input] = Field(default_factory=dict)
    dtype: Dtype = "bfloat16"
    read: float = Field(1.0, ge=0, le=1)
    tiers: tuple[Tier, ...] = Field(min_length=2, max_length=8)


class Cuda(Strict):
    """What a kernel gets on a GPU: the cases and shapes in the dtypes of the device, and these.

    A call launches at most `launches` kernels; fused means one. `slope` is of the memory of the
    device. `paths` are sizes in place of those of the question's own. `seconds` are the limit of a
    stage: the first one builds the kernel.
    """

    launches: int = Field(ge=1, le=8)
    slope: Slope
    speed: CudaSpeed
    paths: dict[Name, int] = Field(default_factory=dict)
    seconds: float = Field(300.0, gt=0, le=900)


class KernelQuestion(CodeQuestion):
    """Write one fused kernel, in plain torch, Triton or CUDA C++.

    `support` is the matrix of shapes, each judged and told by itself once the `cases` pass;
    `strided` names those of the `cases` that are called again with inputs that are not contiguous,
    which is told and never failed.
    """

    kind: Literal["kernel"]  # type: ignore[assignment]
    support: tuple[Case, ...] = Field(min_length=1)
    strided: tuple[Slug, ...] = ()
    interpret: Interpret
    slope: Slope
    speed: Speed
    paths: Paths
    cuda: Cuda
