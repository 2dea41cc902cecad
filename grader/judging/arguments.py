"""The arguments of a call in words: written out, or drawn by torch after a seed."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor

from grader.judging.cases import BuiltCase, index

WRITTEN = 16
"""Entries up to which a tensor is written out."""

WIDE = 64
"""Characters of one that is."""

SHORT = 24
"""Characters up to which integers are written out; else a learner's torch draws them."""

LOUD = 200
"""Times the usual spread: scores of tens of thousands, in place of the edits that make them so."""

SUFFIX = {"float32": "", "float64": ".double()", "bfloat16": ".bfloat16()", "float16": ".half()"}


@dataclass(frozen=True)
class Given:
    """An argument in words."""

    name: str
    text: str
    tensor: bool


@dataclass(frozen=True)
class Drawn:
    """A random argument: `before`, its size and `after` are its text."""

    name: str
    shape: tuple[int, ...]
    before: str
    after: str
    floating: bool = True
    edits: tuple[Mapping[str, Any], ...] = ()

    def text(self, size: str = "") -> str:
        return f"{self.before}{size or ', '.join(map(str, self.shape))}{self.after}"


Argument = Given | Drawn


def nearer_and_farther(
    question: Mapping[str, Any], declared: Mapping[str, Any], case: BuiltCase
) -> Iterator[list[Argument]]:
    """The arguments written out; drawn and edited as the case's own are, or with some of the
    edits; only drawn; all with one spread; all large."""
    written = arguments(question, declared, case, written=True)
    if written is not None:
        yield written
    drawn = arguments(question, declared, case, written=False)
    if drawn is None:
        return
    plain = edited(drawn, lambda _: ())
    tried = [plain]
    for some in (
        drawn,
        edited(drawn, lambda edits: tuple(e for e in edits if e["set"] is not None)),
        edited(drawn, lambda edits: edits[:1]),
    ):
        if some not in tried:
            tried.append(some)
            yield some
    yield plain
    suffix = _suffix(question, case)
    for spread in (0.5, 1, *([LOUD] if plain != drawn else [])):
        even = [_even(a, spread, suffix) for a in plain]
        if even not in tried:
            tried.append(even)
            yield even


def edited(
    drawn: Sequence[Argument],
    which: Callable[[tuple[Mapping[str, Any], ...]], tuple[Mapping[str, Any], ...]],
) -> list[Argument]:
    """The same with these of its edits."""
    return [replace(a, edits=which(a.edits)) if isinstance(a, Drawn) else a for a in drawn]


def _even(one: Argument, spread: float, suffix: str) -> Argument:
    """The same, drawn with this spread around zero; masks and integers as they are."""
    if isinstance(one, Given) or not one.floating:
        return one
    before, after = _manner(spread, 0.0, suffix)
    return replace(one, before=before, after=after)


def _suffix(question: Mapping[str, Any], case: BuiltCase) -> str:
    return SUFFIX[case.dtype] + (".numpy()" if question["framework"] == "numpy" else "")


def arguments(
    question: Mapping[str, Any], declared: Mapping[str, Any], case: BuiltCase, written: bool
) -> list[Argument] | None:
    made: list[Argument] = []
    suffix = _suffix(question, case)
    numpy = ".numpy()" if question["framework"] == "numpy" else ""
    for name, value in case.values.items():
        if not isinstance(value, Tensor):
            made.append(Given(name, repr(value), False))
            continue
        spec = declared["inputs"].get(name, question["inputs"][name])
        found: Argument | None
        if value.is_floating_point() and not written:
            found = _random(name, value, spec, suffix)
        else:
            found = _written(name, value, suffix if value.is_floating_point() else numpy)
            if found is None or len(found.text) > (SHORT if spec["fill"] == "integers" else WIDE):
                found = _integers(name, value, spec) or _mask(name, value, spec)
        if found is None:
            return None
        if isinstance(found, Drawn):
            found = replace(found, edits=tuple(spec["edits"]))
        made.append(found)
    return made


def _written(name: str, value: Tensor, suffix: str) -> Given | None:
    """Numbers as they are, floating ones to one decimal."""
    if value.dtype == torch.int64 and value.dim() == 1 and len(value) > 1:
        start, stop = int(value[0]), int(value[0]) + len(value)
        if torch.equal(value, torch.arange(start, stop)):
            ends = f"{start}, {stop}" if start else str(stop)
            return Given(name, f"torch.arange({ends}){suffix}", True)
    if not 0 < value.numel() <= WRITTEN:
        return None
    if value.dtype == torch.bool:
        return Given(name, _numbers(value.int(), ".bool()") + suffix, True)
    if value.is_floating_point():
        value = (value.double() * 10).round() / 10 + 0.0  # no -0.0
    return Given(name, _numbers(value) + suffix, True)


def _numbers(value: Tensor, suffix: str = "") -> str:
    """As nested lists, or flat where that is shorter."""
    nested = f"torch.tensor({value.tolist()}){suffix}"
    flat = f"torch.tensor({value.flatten().tolist()}){suffix}.view{tuple(value.shape)}"
    shorter = flat if len(flat) < len(nested) and value.dim() > 1 else nested
    return shorter.replace("inf", "torch.inf")


def _random(name: str, value: Tensor, spec: Mapping[str, Any], suffix: str) -> Drawn | None:
    if spec["fill"] == "uniform":
        low, high = float(spec["low"]), float(spec["high"])
        before, after = _manner(float(f"{high - low:.1g}"), low, suffix, "torch.rand(")
        return Drawn(name, tuple(value.shape), before, after)
    if spec["fill"] not in ("normal", "linear"):
        return None
    width = math.sqrt(value.shape[-1]) if spec["fill"] == "linear" else 1.0
    spread = float(f"{spec['std'] / width:.1g}")
    # Round, so that neighbours come out of one draw.
    spread = 1.0 if 0.7 < spread <= 2.0 else 0.5 if 0.1 < spread <= 0.7 else spread
    mean = float(spec["mean"]) if spec["fill"] == "normal" else 0.0
    before, after = _manner(spread, mean, suffix)
    return Drawn(name, tuple(value.shape), before, after)


def _manner(spread: float, mean: float, suffix: str, draw: str = "torch.randn(") -> tuple[str, str]:
    before = f"{spread:g} * {draw}" if spread != 1 else draw
    after = f") {'+' if mean > 0 else '-'} {abs(mean):g}" if mean else ")"
    if suffix and (spread != 1 or mean):
        before, after = f"({before}", f"{after})"
    return before, after + suffix


def _integers(name: str, value: Tensor, spec: Mapping[str, Any]) -> Drawn | None:
    if spec["fill"] != "integers":
        return None
    low, end = int(spec["low"]), int(spec["high"]) + 1
    ends = f"{low}, {end}" if low else str(end)
    after = "))" if value.dim() > 1 else ",))"
    return Drawn(name, tuple(value.shape), f"torch.randint({ends}, (", after, floating=False)


def _mask(name: str, value: Tensor, spec: Mapping[str, Any]) -> Drawn | None:
    if spec["fill"] != "mask":
        return None
    keep = float(spec["keep"])
    shape = tuple(value.shape)
    if keep >= 1:
        return Drawn(name, shape, "torch.ones(", ").bool()", floating=False)
    return Drawn(name, shape, "torch.rand(", f") < {keep:g}", floating=False)


def edit_text(
    name: str, edits: Sequence[Mapping[str, Any]], sizes: Mapping[str, int]
) -> Iterator[str]:
    """The edits of a case as statements."""
    for edit in edits:
        at = tuple(index(entry, sizes) for entry in edit["at"])
        where = f"{name}[{', '.join(_index_text(one) for one in at) or ':'}]"
        if edit["set"] is not None:
            number = edit["set"] if isinstance(edit["set"], bool) else f"{edit['set']:g}"
            yield f"{where} = {number}".replace("inf", "torch.inf")
        elif edit["times"] is not None:
            yield f"{where} *= {edit['times']:g}"
        else:
            yield f"{where} {'-' if edit['plus'] < 0 else '+'}= {abs(edit['plus']):g}"


def _index_text(one: int | slice) -> str:
    if isinstance(one, int):
        return str(one)
    start, stop = ("" if end is None else str(end) for end in (one.start, one.stop))
    return f"{start}:{stop}"
