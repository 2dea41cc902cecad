"""What a submission gave for the cases: the record on which every later finding rests."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from torch import Tensor

from grader.isolation.calls import Call, Header, Outcome, OutputSpec
from grader.judging.cases import BuiltCase
from grader.judging.compare import Difference, compare
from grader.judging.oracle import Oracle, Truth

Caller = Callable[[BuiltCase], Outcome]
FLOATS = ("float32", "float64", "bfloat16", "float16")


@dataclass(frozen=True)
class Answer:
    """One call's outcome, compared. `outputs` is None unless every shape fits."""

    case: BuiltCase
    outcome: Outcome
    outputs: dict[str, Tensor] | None
    differences: tuple[Difference, ...]

    @property
    def returned(self) -> bool:
        return self.outcome.status == "returned"

    @property
    def shapes_fit(self) -> bool:
        wanted = [spec.shape for spec in self.case.outputs.values()]
        return self.returned and wanted == [h.shape for h in self.headers] and self.kinds_fit

    @property
    def count_fits(self) -> bool:
        return len(self.headers) == len(self.case.outputs)

    @property
    def kinds_fit(self) -> bool:
        return all(header.kind in ("tensor", "array") for header in self.headers)

    @property
    def dtypes_fit(self) -> bool:
        specs = list(self.case.outputs.values())
        return len(self.headers) == len(specs) and all(
            header.dtype in spec.dtypes for header, spec in zip(self.headers, specs, strict=True)
        )

    @property
    def headers(self) -> list[Header]:
        return self.outcome.headers

    @property
    def values_right(self) -> bool:
        return self.outputs is not None and not self.differences


def request(case: BuiltCase) -> Call:
    """The call of a case. Any floating dtype is let through: it is judged on its own."""
    outputs = [
        OutputSpec(spec.shape, tuple(dict.fromkeys((*spec.dtypes, *FLOATS))))
        if spec.dtypes[0] in FLOATS
        else spec
        for spec in case.outputs.values()
    ]
    return Call(args=case.args, kwargs=case.kwargs, outputs=outputs)


def given(case: BuiltCase, outcome: Outcome) -> dict[str, Tensor] | None:
    """What a call returned, by output name; None unless every shape fits."""
    values = outcome.outputs if outcome.status == "returned" else []
    got = {
        name: value for name, value in zip(case.outputs, values, strict=False) if value is not None
    }
    return got if len(outcome.headers) == len(case.outputs) == len(got) else None


def record(case: BuiltCase, outcome: Outcome, oracle: Oracle) -> Answer:
    """Compare what a call returned with the truth."""
    got = given(case, outcome)
    if got is None:
        return Answer(case, outcome, None, ())
    return Answer(case, outcome, got, differences(got, oracle.truth(case)))


def differences(got: dict[str, Tensor], truth: Truth) -> tuple[Difference, ...]:
    """The wrong ones among the outputs `got`."""
    found = (
        compare(name, value, truth.expected[name], truth.allowed[name])
        for name, value in got.items()
    )
    return tuple(difference for difference in found if difference is not None)
