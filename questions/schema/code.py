"""Code questions: the entry function, its inputs by symbol, the case grid, what is judged."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from questions.schema.common import DottedName, Dtype, Line, Name, Prose, QuestionBase, Slug, Strict

Size = int | str  # an integer, or an expression over the case's symbols such as "H * D"
Index = int | str | None | tuple[Size | None, Size | None]


class Edit(Strict):
    """A change to part of a drawn tensor: `at` holds one entry an axis.

    An entry is an index, `null` for the whole axis, or `[start, stop]` (either may be null);
    missing trailing axes are whole. Exactly one of `set`, `times`, `plus` is given.
    """

    at: tuple[Index, ...]
    set: float | bool | None = None
    times: float | None = None
    plus: float | None = None


class TensorInput(Strict):
    """A tensor argument, drawn afresh from the seed for each case.

    normal    mean + std * N(0, 1), in the case's dtype
    linear    a weight as nn.Linear stores it: std * N(0, 1) / sqrt(last dimension)
    uniform   low .. high, in the case's dtype
    values    the given values, reshaped to `shape`; one may be an expression over the sizes
    arange    start, start + step, ... as int64 (`shuffle` draws their order)
    integers  int64 in [low, high]
    mask      bool, True with probability `keep`, every row of the last axis at least one True
    """

    shape: tuple[Size, ...]
    fill: Literal["normal", "linear", "uniform", "values", "arange", "integers", "mask"] = "normal"
    mean: float = 0.0
    std: float = 1.0
    low: float = 0.0
    high: float = 1.0
    keep: float = 0.6
    start: int = 0
    step: int = 1
    shuffle: bool = False
    values: tuple[float | int | bool | str, ...] | None = None
    edits: tuple[Edit, ...] = ()
    about: Line | None = Field(None, description="shown in the prompt's table of arguments")


class ValueInput(Strict):
    """A plain argument: a number, a symbol of the case, an expression over symbols, or None."""

    value: int | float | bool | str | None
    about: Line | None = None


Input = TensorInput | ValueInput


class Output(Strict):
    """What the entry function returns; several outputs are a tuple in this order.

    `dtype` is `input` (that of the case), `any-float` (the NumPy drill), or a fixed one.
    """

    shape: tuple[Size, ...]
    dtype: Literal["input", "any-float", "bool", "int64"] = "input"
    gradient: bool = Field(True, description="false where it is graded by value only")
    about: Line | None = None


class Case(Strict):
    """One call. `inputs` and `outputs` replace the question's own declarations by name.

    A case whose scores are large says `clear_leader: true`: it is drawn again until the
    same-dtype baselines agree, so that the rounding of large scores is never what is graded.
    """

    id: Slug
    title: Line
    sizes: dict[Name, int]
    inputs: dict[Name, Input] = Field(default_factory=dict)
    outputs: dict[Name, Output] = Field(default_factory=dict)
    dtypes: tuple[Dtype, ...] = ("float32",)
    gradients: bool = Field(True, description="false where a row sees nothing")
    clear_leader: bool = False
    by_keyword: tuple[Name, ...] = ()
    omit: tuple[Name, ...] = Field((), description="arguments left to their defaults")


class Probe(Strict):
    """A structural question put to a wrong answer that matches no known mistake.

    future          change a later position of `input` along `axis`: earlier rows must not move
    independent     change one slice of `input` along `axis` (batch, head): the others must not move
    constant-value  a constant `input` (the values) must come back unchanged
    hidden          change what is hidden (padding, masked keys): nothing may move
    shift           shift `input` (positions) by a constant: norms, or outputs, must keep
    """

    kind: Literal["future", "independent", "constant-value", "hidden", "shift"]
    input: Name
    axis: int = 0
    output: Name
    output_axis: int = 0
    what: Line = Field(description="the noun for one slice: position, head, batch element")


class Outside(Strict):
    """A cost once more, read from outside the process, where nothing in it hides it. Linux alone.

    Two calls, at `sizes` and with `grow` in place of some of them. `time` is how many times the
    processor time may grow from the one to the other; `bytes` is how far the memory may rise in
    the larger one, beyond its arguments and results; `bytes_in_float64` that of code whose largest
    tensor is of float64 though the call is not: as many tensors are twice as large there, and a
    copy of the arguments comes first. They are read only where the counts saw less
    than a quarter of the work that the reference does: right code may spend its time on loops
    that grow like the fault, and its memory on the holes between small tensors that it keeps.
    """

    sizes: dict[Name, int]
    grow: dict[Name, int] = Field(default_factory=dict)
    time: float | None = None
    bytes: Size | None = None
    bytes_in_float64: Size | None = None


class Again(Strict):
    """A growth between right and wrong, counted once more at sizes where the two part.

    Where it is `above` this (and within the cost's own `at_most`), the call is counted at `sizes`
    and with `grow`, and `at_most` holds there. Only an answer in doubt pays for it: at such sizes
    right code that loops takes long.
    """

    above: float
    sizes: dict[Name, int]
    grow: dict[Name, int]
    at_most: float


class Cost(Strict):
    """A bound on what a call may cost, looked at once all values are right.

    work              operations: 2 a multiply-add of a product, else the elements that are read,
                      made or moved
    largest-tensor    elements of the largest tensor that is made; views are free
    largest-computed  the same, of floating tensors that are no copies of the arguments

    With `grow`, the call is made at `sizes` and again with some of them larger, and `at_most` is
    how many times the measure may grow. Without, it is the largest value at `sizes`: an expression
    over them. `instead` is the remedy, as one sentence. With `required: false` the cost is
    reported and fails nobody.
    """

    id: Slug
    title: Line
    measure: Literal["work", "largest-tensor", "largest-computed"]
    sizes: dict[Name, int]
    grow: dict[Name, int] = Field(default_factory=dict)
    at_most: int | float | str
    instead: Line
    inputs: dict[Name, Input] = Field(default_factory=dict)
    outputs: dict[Name, Output] = Field(default_factory=dict)
    dtype: Dtype = "float32"
    required: bool = True
    again: Again | None = None
    outside: Outside | None = None


class CodeQuestion(QuestionBase):
    """Write one function; it is judged against the torch reference."""

    kind: Literal["code"]
    framework: Literal["torch", "numpy"] = "torch"
    entry: Name
    inputs: dict[Name, Input]
    outputs: dict[Name, Output]
    axes: dict[Name, tuple[Line, ...]] = Field(
        default_factory=dict, description="the name of each output axis: batch, head, row, feature"
    )
    reference: DottedName
    baselines: tuple[DottedName, ...] = Field(
        min_length=2, description="the same mathematics in another order: the measure of rounding"
    )
    reduction: Size = Field(1, description="length of the longest sum, for the tolerance's floor")
    gradients: tuple[Name, ...] = ()
    cases: tuple[Case, ...] = Field(min_length=3)
    family: DottedName = Field(description="the implementation with switches")
    mistakes: tuple[Slug, ...] = Field(min_length=1)
    probes: tuple[Probe, ...] = ()
    forbidden: tuple[Literal["fused-attention", "softmax", "autograd"], ...] = ()
    costs: tuple[Cost, ...] = ()
    starter: Prose
    seconds: float = Field(10.0, gt=0, le=600, description="limit for each stage")


class PlantedBug(Strict):
    """One bug of the shipped code: the known mistake that it is."""

    mistake: Slug
    line: int = Field(ge=1, description="line of the shipped code")
    fix: Prose


class DebugQuestion(CodeQuestion):
    """Mend the shipped code (`starter`): it must fail as it is, by exactly the planted bugs."""

    kind: Literal["debug"]  # type: ignore[assignment]
    bugs: tuple[PlantedBug, ...] = Field(min_length=1, max_length=6)
