"""The one result type of every grade. Plain frozen dataclasses: `drill answer` must start fast,
and pydantic alone would cost half of its budget (docs/decisions/0002-plain-reports.md)."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from questions.kinds import CODE_KINDS

FORMAT = 1

Device = Literal["cpu", "interpret", "cuda"]
"""`interpret`: Triton kernels in Triton's interpreter, on the CPU."""

UNTRIED = "grading on CUDA was written without a GPU at hand: nobody has tried it on one yet"
"""In every report of the device cuda, until `benchmarks/cuda_check.py` has passed on one. Whoever
has seen that deletes this, and the sentences of the README and docs/isolation.md that say so."""

Verdict = Literal[
    "passed",
    "partial",
    "wrong_answer",
    "too_costly",
    "forbidden",
    "runtime_error",
    "crashed",
    "time_limit",
    "memory_limit",
    "output_limit",
    "resource_limit",
    "denied",
    "invalid",
    "needs_review",
    "not_run",
    "skipped",
    "grader_error",
]


@dataclass(frozen=True)
class Check:
    """One check of a code question, e.g. `values/left-padded`, with the words a learner reads.
    `line`: the line of the file that the message tells of; 0 for none."""

    id: str
    verdict: Verdict
    message: str = ""
    title: str = ""
    line: int = 0


@dataclass(frozen=True)
class Part:
    """One part of an answer: a step, a matrix, a key point, the number itself."""

    id: str
    verdict: Verdict
    message: str = ""
    asks: str = ""
    given: str = ""


@dataclass(frozen=True)
class NamedMistake:
    """A mistake that the evidence singles out. `hint` leads on without giving the solution."""

    id: str
    title: str
    explanation: str
    hint: str = ""


@dataclass(frozen=True)
class Where:
    """The smallest failing case, and the worst entry in it."""

    case: str
    case_title: str
    sizes: dict[str, int]
    dtype: str
    pattern: str = ""  # "every head, every row from 1 on; row 0 is right"
    index: str = ""  # "out[1, 6, 40]"
    yours: str = ""
    expected: str = ""
    allowed: str = ""
    wrong_entries: int = 0
    entries: int = 0


@dataclass(frozen=True)
class Sample:
    """The fault in a few numbers: a program to paste into Python, or a row of the smallest case.

    `code` makes its own inputs and imports the learner's file; `shown` is what its last line
    prints with the learner's code, `expected` with the right one. Without code they are the
    part `of` an output of the smallest failing case.
    """

    code: tuple[str, ...] = ()
    of: str = ""  # "out[1, 0]"
    verb: Literal["prints", "raises"] = "prints"
    shown: str = ""
    expected: str = ""


@dataclass(frozen=True)
class Costs:
    """Wall seconds of the submission's and the reference's calls; counts where they were taken."""

    seconds: float | None = None
    reference_seconds: float | None = None
    flops: int | None = None
    largest_tensor: int | None = None


@dataclass(frozen=True)
class Growth:
    """How a kernel's use of memory grows with the length: as its power `slope`, with the standard
    error, of the elements of the largest tensor, or the bytes of the process or on a device
    (`values`)."""

    what: Literal["tensor", "memory", "device"]
    slope: float
    error: float
    at_most: float
    values: tuple[int, ...]


@dataclass(frozen=True)
class Rung:
    """One of the ladder of speeds. `reached` is None where what is credible lies on both sides."""

    name: str
    reached: bool | None


@dataclass(frozen=True)
class Speed:
    """Speed on one thread of the CPU, in processor time, or on a GPU: naive attention's over the
    submission's (above 1: faster) and the submission's over that of torch's fused attention, each
    as median, least and most credible value. `ladder` has all rungs, from slow to fast, and none
    where the timing was `unreliable`, for which it says why. `tier` is the highest that is reached
    with all below it, and `next` the one above; "" where that is not certain.
    `cpu_seconds` are of the processor or the GPU, `seconds` of the wall."""

    times_naive: tuple[float, float, float]
    times_fused: tuple[float, float, float]
    control: tuple[float, float, float]
    ladder: tuple[Rung, ...] = ()
    tier: str = ""
    next: str = ""
    rounds: int = 0
    cpu_seconds: float = 0.0
    seconds: float = 0.0
    unreliable: str = ""


@dataclass(frozen=True)
class Path:
    """One of a kernel's shapes: by how many times its processor time, over that of torch's fused
    operations at the same shape, exceeds that of the other shapes, as median, least and most
    credible value. `slow` is None where that is not certain."""

    title: str
    times: tuple[float, float, float]
    slow: bool | None


@dataclass(frozen=True)
class Paths:
    """Where a kernel falls to a slow path, told and never failed. `failed` are the shapes at which
    a call raised an exception; `unreliable` says why nothing is told."""

    shapes: tuple[Path, ...] = ()
    rounds: int = 0
    failed: tuple[str, ...] = ()
    unreliable: str = ""


@dataclass(frozen=True)
class Report:
    """What one grade found. `score` is in [0, 1]; `certain` lists what the probes established."""

    question: str
    kind: str
    verdict: Verdict
    score: float
    seed: int
    summary: str = ""
    checks: tuple[Check, ...] = ()
    parts: tuple[Part, ...] = ()
    mistakes: tuple[NamedMistake, ...] = ()
    where: Where | None = None
    certain: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    traceback: str = ""
    output: str = ""  # the first and last of what the submission printed
    costs: Costs = field(default_factory=Costs)
    isolation: tuple[str, ...] = ()
    seconds: float = 0.0
    revision: int = 1
    sample: Sample | None = None
    device: Device = "cpu"
    growth: tuple[Growth, ...] = ()  # of a kernel
    operations: tuple[int, int] | None = None  # dispatched at the shortest and longest length
    speed: Speed | None = None
    paths: Paths | None = None

    def to_json(self) -> dict[str, Any]:
        """The published form (`format` 1): `checks` for code, `parts` for other answers."""
        data: dict[str, Any] = {"format": FORMAT, **asdict(self)}
        del data["parts" if self.kind in CODE_KINDS else "checks"]
        return data

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Report:
        """Read what `to_json` wrote. Raises ValueError for another `format`."""
        if data.get("format") != FORMAT:
            raise ValueError(f"report format {data.get('format')!r} is not {FORMAT}")
        fields = {k: v for k, v in data.items() if k != "format"}
        fields["checks"] = tuple(Check(**c) for c in data.get("checks", ()))
        fields["parts"] = tuple(Part(**p) for p in data.get("parts", ()))
        fields["mistakes"] = tuple(NamedMistake(**m) for m in data.get("mistakes", ()))
        fields["where"] = Where(**data["where"]) if data.get("where") else None
        sample = data.get("sample")
        fields["sample"] = Sample(**{**sample, "code": tuple(sample["code"])}) if sample else None
        fields["costs"] = Costs(**data.get("costs", {}))
        growth = data.get("growth", ())
        fields["growth"] = tuple(Growth(**{**g, "values": tuple(g["values"])}) for g in growth)
        fields["operations"] = tuple(data["operations"]) if data.get("operations") else None
        speed = data.get("speed")
        triples = ("times_naive", "times_fused", "control")
        if speed:
            speed.pop("edge", None)  # of reports that were kept before there was a ladder
            tuples = {name: tuple(speed[name]) for name in triples}
            tuples["ladder"] = tuple(Rung(**rung) for rung in speed.get("ladder", ()))
            speed = Speed(**{**speed, **tuples})
        fields["speed"] = speed
        paths = data.get("paths")
        if paths:
            shapes = tuple(Path(**{**p, "times": tuple(p["times"])}) for p in paths["shapes"])
            paths = Paths(**{**paths, "shapes": shapes, "failed": tuple(paths["failed"])})
        fields["paths"] = paths
        for name in ("certain", "notes", "isolation"):
            fields[name] = tuple(data.get(name, ()))
        return cls(**fields)
