"""Calling trusted code: the reference, its baselines, the known mistakes. Never a submission."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any

import torch
from torch import Tensor

from grader.judging.cases import BuiltCase
from reference.mistakes.readings import same

Function = Callable[..., Any]


@cache
def resolve(dotted: str) -> Function:
    """The function that a dotted name such as `reference.softmax.softmax` stands for."""
    module, _, name = dotted.rpartition(".")
    function: Function = getattr(importlib.import_module(module), name)
    return function


@cache
def switches(dotted: str) -> dict[str, dict[str, object]]:
    """Mistake id -> the switches that make it, for the family function `dotted`."""
    module, _, name = dotted.rpartition(".")
    table: dict[str, dict[str, object]] = importlib.import_module(module).MISTAKES[name]
    return table


def readings(dotted: str) -> dict[str, tuple[str, dict[str, object]]]:
    """Other ways to make the listed mistakes: a name of ours -> the mistake's id and the switches.

    What is a mistake with an id of its own is none, and what two share is the first one's.
    """
    table = switches(dotted)
    module, _, name = dotted.rpartition(".")
    own = getattr(importlib.import_module(module), "READINGS", {}).get(name, lambda _: ())
    known = list(table.values())
    found: dict[str, tuple[str, dict[str, object]]] = {}
    for id_, made in table.items():
        for n, other in enumerate(o for one in (made, *same(made)) for o in (one, *own(one))):
            if other not in known:
                known.append(other)
                found[f"{id_}~{n}"] = id_, other
    return found


def invoke(
    function: Function,
    case: BuiltCase,
    dtype: torch.dtype,
    framework: str,
    extra: Mapping[str, object] | None = None,
) -> list[Tensor]:
    """Call `function` on the case's inputs, floating ones cast to `dtype`; a flat list comes back.

    The inputs are copies, so that a known mistake that writes into them does no harm.
    """
    return invoke_with(
        function,
        case,
        {
            name: value.to(dtype, copy=True) if value.is_floating_point() else value.clone()
            for name, value in case.values.items()
            if isinstance(value, Tensor)
        },
        framework,
        extra,
    )


def invoke_with(
    function: Function,
    case: BuiltCase,
    tensors: Mapping[str, Tensor],
    framework: str,
    extra: Mapping[str, object] | None = None,
) -> list[Tensor]:
    """Call `function` with `tensors` in place of the case's own, as they are (leaves)."""
    values: dict[str, Any] = {}
    for name, value in case.values.items():
        given: Any = tensors.get(name, value)
        if isinstance(given, Tensor) and framework == "numpy":
            given = given.numpy()
        values[name] = given
    positional = [v for name, v in values.items() if name not in case.keywords]
    keywords = {name: values[name] for name in case.keywords}
    returned = function(*positional, **keywords, **(extra or {}))
    several: Sequence[Any] = returned if isinstance(returned, (tuple, list)) else (returned,)
    return [torch.as_tensor(value) for value in several]
