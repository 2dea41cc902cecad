"""Calls that what is remembered of an earlier call would answer wrongly."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import torch

from grader.judging.cases import BuiltCase
from grader.judging.oracle import Oracle
from questions.sizes import evaluate

OTHER_DRAW = 0x2545F4914F6CDD1D
"""Added to the seed for inputs of the same shapes and other values."""


def others(
    oracle: Oracle, declared: Mapping[str, Any], first: BuiltCase, seed: int, thorough: bool
) -> Iterator[BuiltCase]:
    """For memories by shape or address, by whole numbers (a prompt, a block table), and for a cache
    that goes on from its own last result whatever it is given; if `thorough` also for those by the
    first input or by the ends of all.

    `first` is the call before, drawn from `declared`.
    """
    other = oracle.draw(declared, first.dtype, seed + OTHER_DRAW)
    yield other
    values, new = _numbers(first, floating=True), _numbers(other, floating=True)
    mixed = first.with_values(**new)
    kept, drawn = _numbers(first, floating=False), _numbers(other, floating=False)
    if any(not torch.equal(kept[n], drawn[n]) for n in kept) and oracle.is_settled(mixed):
        yield mixed
    if thorough and values:
        ends = {name: _ends(value, new[name]) for name, value in values.items()}
        name = next(iter(values))
        for again in ({name: values[name]}, ends) if len(values) > 1 else (ends,):
            one = other.with_values(**again)
            if oracle.is_settled(one):
                yield one
    longer = fed_back(oracle.question, declared)
    if longer is not None:
        yield replace(oracle.draw(longer, first.dtype, seed + OTHER_DRAW), id=first.id)


def _ends(value: torch.Tensor, other: torch.Tensor) -> torch.Tensor:
    """`other` with the first and the last entry of `value`."""
    mixed = other.clone()
    for place in (0, -1) if mixed.numel() else ():
        mixed.view(-1)[place] = value.reshape(-1)[place]
    return mixed


def fed_back(question: Mapping[str, Any], declared: Mapping[str, Any]) -> dict[str, Any] | None:
    """The case grown so that an input has the shape that the output of its name had; None where
    no output is an input too."""
    inputs = {**question["inputs"], **declared["inputs"]}
    if any(spec.get("fill") == "values" for spec in inputs.values()):
        return None  # a list of numbers has the length it has
    grown = dict(declared["sizes"])
    for name in inputs.keys() & question["outputs"].keys():
        before, after = inputs[name]["shape"], question["outputs"][name]["shape"]
        for symbol, size in zip(before, after, strict=True):
            if symbol != size and symbol in grown:
                grown[symbol] = evaluate(size, declared["sizes"])
    if grown == declared["sizes"]:
        return None
    return {**declared, "id": f"{declared['id']}/fed-back", "sizes": grown}


def _numbers(case: BuiltCase, floating: bool) -> dict[str, torch.Tensor]:
    return {
        name: value
        for name, value in case.values.items()
        if isinstance(value, torch.Tensor) and value.is_floating_point() == floating
    }
