"""A question's cases as actual inputs: drawn from the seed, quantised, the same for every run."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor

from grader.isolation.calls import OutputSpec
from questions.kinds import all_cases
from questions.sizes import evaluate

Argument = Tensor | int | float | bool | None
DTYPES = {
    "float32": torch.float32,
    "float64": torch.float64,
    "bfloat16": torch.bfloat16,
    "float16": torch.float16,
}


@dataclass(frozen=True)
class BuiltCase:
    """One call, ready to be made. `values` holds the arguments in the order of the signature."""

    id: str
    title: str
    dtype: str
    sizes: dict[str, int]
    values: dict[str, Argument]
    keywords: tuple[str, ...]
    outputs: dict[str, OutputSpec]
    gradients: tuple[str, ...]
    clear_leader: bool

    @property
    def args(self) -> list[Argument]:
        return [value for name, value in self.values.items() if name not in self.keywords]

    @property
    def kwargs(self) -> dict[str, Argument]:
        return {name: self.values[name] for name in self.keywords}

    @property
    def names(self) -> list[str]:
        """Names in the order in which a worker counts its inputs: positions, then keywords."""
        return [name for name in self.values if name not in self.keywords] + list(self.keywords)

    def entries(self) -> int:
        """The number of output entries: what makes one case smaller than another."""
        return sum(math.prod(spec.shape) for spec in self.outputs.values())

    def with_values(self, **changed: Argument) -> BuiltCase:
        """The same call with other values for some of its arguments."""
        return replace(self, values={**self.values, **changed})


def find(question: Mapping[str, Any], case_id: str) -> Mapping[str, Any]:
    """The declaration of a case. Raises ValueError, naming the cases that there are."""
    for case in all_cases(question):
        if case["id"] == case_id:
            return dict(case)
    known = ", ".join(case["id"] for case in all_cases(question))
    raise ValueError(f"{question['id']} has no case {case_id!r}; its cases are: {known}")


def build(
    question: Mapping[str, Any], case: Mapping[str, Any], dtype: str, seed: int, draw: int = 0
) -> BuiltCase:
    """Draw the inputs of a case.

    Each input has a generator of its own, seeded from the seed, the question, the case, the
    input's name and `draw`; the dtype plays no part, so that the bfloat16 inputs are the float32
    ones, rounded.
    """
    sizes = dict(case["sizes"])
    values: dict[str, Argument] = {}
    keywords: list[str] = []
    skipped = False
    for name, declared in question["inputs"].items():
        if name in case["omit"]:
            skipped = True
            continue
        spec = case["inputs"].get(name, declared)
        if skipped or name in case["by_keyword"]:
            keywords.append(name)
        if "shape" not in spec:
            values[name] = _plain(spec["value"], sizes)
            continue
        text = f"{seed}/{question['id']}/{case['id']}/{name}/{draw}"
        digest = hashlib.sha256(text.encode()).digest()
        generator = torch.Generator().manual_seed(int.from_bytes(digest[:8], "big") >> 1)
        values[name] = _tensor(spec, sizes, DTYPES[dtype], generator)
    graded = case["gradients"] and not case["clear_leader"]  # a saturated row's gradient is noise
    return BuiltCase(
        id=case["id"],
        title=case["title"],
        dtype=dtype,
        sizes=sizes,
        values=values,
        keywords=tuple(keywords),
        outputs={
            name: _output(case["outputs"].get(name, declared), sizes, dtype)
            for name, declared in question["outputs"].items()
        },
        gradients=tuple(
            name
            for name in question["gradients"]
            if graded and name in values and name not in keywords
        ),
        clear_leader=case["clear_leader"],
    )


def sized(
    question: Mapping[str, Any],
    seed: int,
    id_: str,
    sizes: Mapping[str, int],
    dtype: str = "float32",
    inputs: Mapping[str, Any] | None = None,
    outputs: Mapping[str, Any] | None = None,
) -> BuiltCase:
    """A case at other sizes than the question's own, with values of its own for every `id_`."""
    declared = {
        "id": id_,
        "title": id_,
        "sizes": dict(sizes),
        "inputs": inputs or {},
        "outputs": outputs or {},
        "omit": (),
        "by_keyword": (),
        "gradients": False,
        "clear_leader": False,
    }
    return build(question, declared, dtype, seed)


def _plain(value: int | float | bool | str | None, sizes: Mapping[str, int]) -> Argument:
    return evaluate(value, sizes) if isinstance(value, str) else value


def _output(spec: Mapping[str, Any], sizes: Mapping[str, int], dtype: str) -> OutputSpec:
    shape = tuple(evaluate(size, sizes) for size in spec["shape"])
    accepted = {"input": (dtype,), "any-float": (dtype, "float64")}.get(
        spec["dtype"], (spec["dtype"],)
    )
    return OutputSpec(shape, tuple(dict.fromkeys(accepted)))


def _tensor(
    spec: Mapping[str, Any],
    sizes: Mapping[str, int],
    dtype: torch.dtype,
    generator: torch.Generator,
) -> Tensor:
    """Drawn and edited in float64 whatever the dtype, then rounded once."""
    shape = tuple(evaluate(size, sizes) for size in spec["shape"])
    tensor = _drawn(spec, shape, sizes, generator)
    for edit in spec["edits"]:
        at = tuple(index(entry, sizes) for entry in edit["at"])
        if edit["set"] is not None:
            tensor[at] = edit["set"]
        elif edit["times"] is not None:
            tensor[at] *= edit["times"]
        else:
            tensor[at] += edit["plus"]
    return tensor.to(dtype) if tensor.is_floating_point() else tensor


def _drawn(
    spec: Mapping[str, Any],
    shape: tuple[int, ...],
    sizes: Mapping[str, int],
    generator: torch.Generator,
) -> Tensor:
    fill = spec["fill"]
    if fill == "values":
        return _given([_plain(value, sizes) for value in spec["values"]]).reshape(shape)
    if fill == "arange":
        tensor = torch.arange(math.prod(shape)).mul_(spec["step"]).add_(spec["start"])
        if spec["shuffle"]:
            tensor = tensor[torch.randperm(len(tensor), generator=generator)]
        return tensor.reshape(shape)
    if fill == "integers":
        return torch.randint(int(spec["low"]), int(spec["high"]) + 1, shape, generator=generator)
    if fill == "mask":
        keep = torch.rand(shape, generator=generator).lt(spec["keep"])
        if keep.numel():
            sure = torch.randint(shape[-1], (*shape[:-1], 1), generator=generator)
            keep.scatter_(-1, sure, True)
        return keep
    if fill == "uniform":
        drawn = torch.rand(shape, dtype=torch.float64, generator=generator)
        return drawn.mul_(spec["high"] - spec["low"]).add_(spec["low"])
    drawn = torch.randn(shape, dtype=torch.float64, generator=generator).mul_(spec["std"])
    if fill == "linear":
        return drawn.div_(math.sqrt(max(shape[-1], 1)))
    return drawn.add_(spec["mean"])


def _given(values: list[Any]) -> Tensor:
    if all(isinstance(value, bool) for value in values):
        return torch.tensor(values, dtype=torch.bool)
    if all(isinstance(value, int) for value in values):
        return torch.tensor(values, dtype=torch.int64)
    return torch.tensor(values, dtype=torch.float64)


def index(entry: Any, sizes: Mapping[str, int]) -> int | slice:
    """One entry of an edit's `at` as Python indexes with it."""
    if entry is None:
        return slice(None)
    if isinstance(entry, (list, tuple)):
        start, stop = (None if end is None else evaluate(end, sizes) for end in entry)
        return slice(start, stop)
    return evaluate(entry, sizes)
