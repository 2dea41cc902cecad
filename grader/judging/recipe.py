"""A call that fits in three lines of Python: inputs that a learner's own torch draws again.

The text and the tensors are made side by side. `torch.randn` after `torch.manual_seed(0)` gives
what it gives with a generator of that seed, so the judge's inputs are the learner's. The sizes are
those of a case; what a case only adds on top, such as large numbers in hidden slots, is left out
where it cannot be said in a few words.
"""

from __future__ import annotations

import keyword
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import PurePath
from typing import Any

import torch
from torch import Tensor

from grader.judging.cases import BuiltCase, index

SEEDS = 6
"""Tried, until a drawn mask hides no whole row."""

WIDEST = 79
MOST = 5
"""Lines. Three do, where the call has no more than three sorts of arguments."""

WRITTEN = 16
"""Entries up to which a tensor is written out."""

INLINE = 24
"""Characters up to which an argument stands in the call itself."""

SUFFIX = {"float32": "", "float64": ".double()", "bfloat16": ".bfloat16()"}


@dataclass(frozen=True)
class Recipe:
    """`setup` are statements that make the inputs, `call` is the call; `case` holds the inputs."""

    setup: tuple[str, ...]
    call: str
    case: BuiltCase
    seed: int

    def lines(self, imports: str, *last: str) -> tuple[str, ...] | None:
        """The program, in as few lines that fit the screen as there can be; None where these are
        more than MOST. `last` are its last lines."""
        first = [imports]
        if any("torch.rand" in statement for statement in self.setup):
            first.append(f"torch.manual_seed({self.seed})")
        apart = (*_packed(first), *_packed(self.setup), *last)
        close = (*_packed([*first, *self.setup]), *last)
        lines = apart if len(apart) <= len(close) else close
        return lines if len(lines) <= MOST and max(map(len, lines)) <= WIDEST else None


def _packed(statements: Sequence[str]) -> list[str]:
    """As many statements on a line as fit, in their order."""
    lines: list[str] = []
    for statement in statements:
        if lines and len(lines[-1]) + 2 + len(statement) <= WIDEST:
            lines[-1] += f"; {statement}"
        else:
            lines.append(statement)
    return lines


@dataclass(frozen=True)
class _Given:
    """An argument in words: `value` is what `text` evaluates to."""

    name: str
    text: str
    value: Any


@dataclass(frozen=True)
class _Drawn:
    """A random argument: `before`, the sizes and `after` are its text; `make` does the same."""

    name: str
    shape: tuple[int, ...]
    before: str
    after: str
    make: Callable[[tuple[int, ...], torch.Generator], Tensor]
    edits: tuple[Mapping[str, Any], ...] = ()


def imports(question: Mapping[str, Any], filename: str) -> str:
    """The line that fetches the learner's function from the file beside."""
    stem = PurePath(filename).stem
    if not stem.isidentifier() or keyword.iskeyword(stem) or not filename.endswith(".py"):
        stem = str(question["id"]).replace("-", "_")
    return f"import torch; from {stem} import {question['entry']}"


def recipes(
    question: Mapping[str, Any], declared: Mapping[str, Any], case: BuiltCase
) -> Iterator[Recipe]:
    """Ways to write a call like `case` down, the nearest to it first: its numbers written out,
    numbers drawn and edited as its own are, numbers only drawn."""
    for written, edited in ((True, True), (False, True), (False, False)):
        made = _arguments(question, declared, case, written, edited)
        for seed in range(SEEDS if made else 0):
            recipe = _recipe(question, case, made or [], seed)
            if recipe is not None:
                yield recipe
                break


def _arguments(
    question: Mapping[str, Any],
    declared: Mapping[str, Any],
    case: BuiltCase,
    written: bool,
    edited: bool,
) -> list[_Given | _Drawn] | None:
    made: list[_Given | _Drawn] = []
    numpy = ".numpy()" if question["framework"] == "numpy" else ""
    for name, value in case.values.items():
        if not isinstance(value, Tensor):
            made.append(_Given(name, repr(value), value))
            continue
        spec = declared["inputs"].get(name, question["inputs"][name])
        found: _Given | _Drawn | None
        if value.is_floating_point() and not written:
            found = _normal(name, value, spec, SUFFIX[case.dtype] + numpy)
        else:
            found = _written(name, value, SUFFIX[case.dtype], numpy)
            if found is None or len(f"{name} = {found.text}") > WIDEST:
                found = _mask(name, value, spec) if value.dtype == torch.bool else None
        if found is None:
            return None
        if isinstance(found, _Drawn) and edited:
            found = replace(found, edits=tuple(spec["edits"]))
        made.append(found)
    return made


def _written(name: str, value: Tensor, suffix: str, numpy: str) -> _Given | None:
    """Numbers as they are, floating ones to one decimal."""
    if value.dtype == torch.int64 and value.dim() == 1 and len(value) > 1:
        start, stop = int(value[0]), int(value[0]) + len(value)
        if torch.equal(value, torch.arange(start, stop)):
            ends = f"{start}, {stop}" if start else str(stop)
            return _Given(name, f"torch.arange({ends}){numpy}", value)
    if not 0 < value.numel() <= WRITTEN:
        return None
    if value.dtype == torch.bool:
        return _Given(name, f"{_numbers(value.int(), '.bool()')}{numpy}", value)
    if not value.is_floating_point():
        return _Given(name, f"{_numbers(value)}{numpy}", value)
    rounded = (value.double() * 10).round() / 10 + 0.0  # no -0.0
    return _Given(name, f"{_numbers(rounded)}{suffix}{numpy}", rounded.float().to(value.dtype))


def _numbers(value: Tensor, suffix: str = "") -> str:
    """As nested lists, or flat where that is shorter."""
    nested = f"torch.tensor({value.tolist()}){suffix}"
    flat = f"torch.tensor({value.flatten().tolist()}){suffix}.view{tuple(value.shape)}"
    shorter = flat if len(flat) < len(nested) and value.dim() > 1 else nested
    return shorter.replace("inf", "torch.inf")


def _normal(name: str, value: Tensor, spec: Mapping[str, Any], suffix: str) -> _Drawn | None:
    if spec["fill"] not in ("normal", "linear"):
        return None
    width = math.sqrt(value.shape[-1]) if spec["fill"] == "linear" else 1.0
    spread = float(f"{spec['std'] / width:.1g}")
    # Round, so that neighbours come out of one draw.
    spread = 1.0 if 0.7 < spread <= 2.0 else 0.5 if 0.1 < spread <= 0.7 else spread
    mean = float(spec["mean"]) if spec["fill"] == "normal" else 0.0
    dtype = value.dtype
    before = f"{spread:g} * torch.randn(" if spread != 1 else "torch.randn("
    after = f") {'+' if mean > 0 else '-'} {abs(mean):g}" if mean else ")"
    if suffix and (spread != 1 or mean):
        before, after = f"({before}", f"{after})"

    def make(shape: tuple[int, ...], generator: torch.Generator) -> Tensor:
        drawn = torch.randn(shape, generator=generator)
        drawn = spread * drawn if spread != 1 else drawn
        return (drawn + mean if mean else drawn).to(dtype)

    return _Drawn(name, tuple(value.shape), before, after + suffix, make)


def _mask(name: str, value: Tensor, spec: Mapping[str, Any]) -> _Drawn | None:
    if spec["fill"] != "mask":
        return None
    keep = float(spec["keep"])
    shape = tuple(value.shape)
    if keep >= 1:
        return _Drawn(name, shape, "torch.ones(", ").bool()", lambda s, _: torch.ones(s).bool())

    def make(shape: tuple[int, ...], generator: torch.Generator) -> Tensor:
        return torch.rand(shape, generator=generator) < keep

    return _Drawn(name, shape, "torch.rand(", f") < {keep:g}", make)


def twice(
    question: Mapping[str, Any], declared: Mapping[str, Any], case: BuiltCase
) -> tuple[Recipe, Recipe] | None:
    """Two calls whose inputs have the same shapes and other numbers, out of one run of draws."""
    made = _arguments(question, declared, case, written=False, edited=False)
    for seed in range(SEEDS if made else 0):
        generator = torch.Generator().manual_seed(seed)
        first = _recipe(question, case, made or [], seed, generator)
        second = _recipe(question, case, made or [], seed, generator)
        if first is not None and second is not None:
            return first, second
    return None


def _sort(one: _Given | _Drawn) -> tuple[object, ...]:
    """The same for neighbours that one draw can make."""
    return (one.shape, one.before, one.after) if isinstance(one, _Drawn) else (one.name,)


def _recipe(
    question: Mapping[str, Any],
    case: BuiltCase,
    made: list[_Given | _Drawn],
    seed: int,
    generator: torch.Generator | None = None,
) -> Recipe | None:
    """None where a drawn mask hides a whole row."""
    generator = generator or torch.Generator().manual_seed(seed)
    values: dict[str, Any] = {}
    setup: list[str] = []
    texts = {}
    for _, group in groupby(made, key=_sort):
        run = list(group)
        one = run[0]
        if isinstance(one, _Given):
            values[one.name] = one.value
            texts[one.name] = one.text
            if len(one.text) > INLINE and isinstance(one.value, Tensor):
                setup.append(f"{one.name} = {one.text}")
                del texts[one.name]
            continue
        # Neighbours of one sort come out of one draw, and are taken apart along its first axis.
        shape = one.shape if len(run) == 1 else (len(run), *one.shape)
        whole = one.make(shape, generator)
        if whole.dtype == torch.bool and not bool(whole.any(-1).all()):
            return None
        parts = [whole] if len(run) == 1 else whole.unbind()
        names = ", ".join(each.name for each in run)
        setup.append(f"{names} = {one.before}{', '.join(map(str, shape))}{one.after}")
        for each, part in zip(run, parts, strict=True):
            values[each.name] = part.clone()
            if isinstance(each, _Drawn):
                setup += _edit(each.name, values[each.name], each.edits, case.sizes)
    given = [texts.get(name, name) for name in case.names if name not in case.keywords]
    given += [f"{name}={texts.get(name, name)}" for name in case.keywords]
    call = f"{question['entry']}({', '.join(given)})"
    ordered = {name: values[name] for name in case.values}
    return Recipe(tuple(setup), call, case.with_values(**ordered), seed)


def _edit(
    name: str, value: Tensor, edits: Sequence[Mapping[str, Any]], sizes: Mapping[str, int]
) -> Iterator[str]:
    """Carry the edits of a case out on `value`, and say how."""
    for edit in edits:
        at = tuple(index(entry, sizes) for entry in edit["at"])
        where = f"{name}[{', '.join(_index_text(one) for one in at)}]"
        if edit["set"] is not None:
            value[at] = edit["set"]
            number = edit["set"] if isinstance(edit["set"], bool) else f"{edit['set']:g}"
            yield f"{where} = {number}".replace("inf", "torch.inf")
        elif edit["times"] is not None:
            value[at] *= edit["times"]
            yield f"{where} *= {edit['times']:g}"
        else:
            value[at] += edit["plus"]
            yield f"{where} {'-' if edit['plus'] < 0 else '+'}= {abs(edit['plus']):g}"


def _index_text(one: int | slice) -> str:
    if isinstance(one, int):
        return str(one)
    start, stop = ("" if end is None else str(end) for end in (one.start, one.stop))
    return f"{start}:{stop}"
