"""A call that fits in three lines of Python: inputs that a learner's own torch draws again.

The text comes first, and is run here as a learner would run it: what it makes are the inputs that
are tried. The sizes are those of a case. What a case adds on top, such as large numbers in hidden
slots, is in the text where it fits; else plainer numbers are drawn, and whether they show the fault
is for the caller to see.
"""

from __future__ import annotations

import keyword
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import groupby
from pathlib import PurePath
from typing import Any

import torch
from torch import Tensor

from grader.judging.arguments import (
    WIDE,
    Argument,
    Drawn,
    Given,
    arguments,
    edit_text,
    edited,
    nearer_and_farther,
)
from grader.judging.cases import BuiltCase
from grader.judging.program import program

SEEDS = 6
"""Tried, until a drawn mask hides no whole row."""

INLINE = (24, WIDE)
"""Characters up to which a tensor stands in the call itself: as a rule, and to save a line."""

LIST = "w"
"""The name of tensors without names of their own."""


@dataclass(frozen=True)
class Recipe:
    """`setup` are statements that make the inputs, `call` is the call. `case` is what it is like;
    once `made`, its inputs are those of the text."""

    setup: tuple[str, ...]
    call: str
    case: BuiltCase
    seed: int = 0

    def lines(self, source: str, *last: str) -> tuple[str, ...] | None:
        """The program, None where it takes too many lines. `last` shows the result."""
        return program(source, self.seed, self.setup, last)

    @property
    def named(self) -> bool:
        """Whether every tensor has a name, so that the call can be made twice."""
        return "torch.rand" not in self.call and "*" not in self.call

    def made(self) -> Recipe | None:
        """With the first seed whose masks hide no whole row that the case does not hide."""
        for seed in range(SEEDS):
            case = self._run(seed)
            if _hidden_rows(case) <= _hidden_rows(self.case):
                return replace(self, case=case, seed=seed)
        return None

    def _run(self, seed: int) -> BuiltCase:
        """The case that the text makes: run, with a function that returns its arguments."""
        entry = self.call.partition("(")[0]
        scope: dict[str, Any] = {"torch": torch, entry: lambda *args, **keywords: (args, keywords)}
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            exec("; ".join(self.setup), scope)
            args, keywords = eval(self.call, scope)
        positional = [name for name in self.case.values if name not in self.case.keywords]
        given = {**dict(zip(positional, args, strict=True)), **keywords}
        values = {
            name: torch.as_tensor(given[name]).clone() if isinstance(old, Tensor) else given[name]
            for name, old in self.case.values.items()
        }
        return self.case.with_values(**values)


def _hidden_rows(case: BuiltCase) -> int:
    masks = [v for v in case.values.values() if isinstance(v, Tensor) and v.dtype == torch.bool]
    return sum(int((~mask.any(-1)).sum()) for mask in masks)


def imports(question: Mapping[str, Any], filename: str) -> str:
    """The statement that fetches the learner's function from the file beside."""
    return f"from {module(question, filename)} import {question['entry']}"


def module(question: Mapping[str, Any], filename: str) -> str:
    """The name under which Python imports the learner's file, or a copy named as the problem's."""
    stem = PurePath(filename).stem
    if not stem.isidentifier() or keyword.iskeyword(stem) or not filename.endswith(".py"):
        stem = str(question["id"]).replace("-", "_")
    return stem


def recipes(
    question: Mapping[str, Any], declared: Mapping[str, Any], case: BuiltCase
) -> Iterator[Iterator[Recipe]]:
    """Ways to write a call like `case` down, the nearest to it first; each as texts that lay much
    the same out in different manners, the most readable first."""
    for given in nearer_and_farther(question, declared, case):
        yield _texts(str(question["entry"]), case, given)


def twice(
    question: Mapping[str, Any], declared: Mapping[str, Any], case: BuiltCase
) -> tuple[Recipe, Recipe] | None:
    """A call, and the same with other numbers: the second draws on after the first."""
    drawn = arguments(question, declared, case, written=False)
    if drawn is None:
        return None
    plain = edited(drawn, lambda _: ())
    text = next(one for one in _texts(str(question["entry"]), case, plain) if one.named)
    both = replace(text, setup=(*text.setup, text.call, *text.setup)).made()
    first = text.made()
    return (first, both) if first and both and first.seed == both.seed else None


def _texts(entry: str, case: BuiltCase, given: Sequence[Argument]) -> Iterator[Recipe]:
    """Every tensor named, as they come; some drawn in the call; those alike together; a list."""
    drawn = [a for a in _ordered(case, given) if isinstance(a, Drawn)]
    lists = [partial(_listed, left=left) for left in range(3)]
    seen: list[list[_Group]] = []
    ways: list[Callable[[Sequence[Drawn]], list[_Group]]] = [_adjacent, _gathered, *lists]
    for lay in ways:
        groups = lay(drawn)
        if groups in seen:
            continue
        seen.append(groups)
        free = [
            g.target for g in groups if g.target != LIST and not any(m.edits for m in g.members)
        ]
        for inner in dict.fromkeys(tuple(free[len(free) - n :]) for n in (0, 1, 2, len(free))):
            for most in INLINE:
                recipe = _text(entry, case, given, groups, inner, most)
                if recipe is not None:
                    yield recipe


def _ordered(case: BuiltCase, given: Sequence[Argument]) -> list[Argument]:
    """Arguments as the call gives them: keywords last."""
    return sorted(given, key=lambda a: a.name in case.keywords)


@dataclass(frozen=True)
class _Group:
    """Arguments that one statement draws: `target = text`, or in the call `starred`."""

    members: tuple[Drawn, ...]
    target: str
    text: str

    @property
    def names(self) -> list[str]:
        return [one.name for one in self.members]


def _alike(one: Drawn) -> tuple[object, ...]:
    """The same for arguments that one draw can make."""
    return one.shape, one.before, one.after


def _group(members: Sequence[Drawn]) -> _Group:
    """By one draw that is taken apart along its first axis, or by one a shape."""
    first = members[0]
    target = ", ".join(one.name for one in members)
    if len(members) == 1:
        return _Group(tuple(members), target, first.text())
    if all(one.shape == first.shape for one in members):
        size = ", ".join(map(str, (len(members), *first.shape)))
        return _Group(tuple(members), target, first.text(size))
    return _Group(tuple(members), target, _each(members))


def _each(members: Sequence[Drawn]) -> str:
    """One draw a shape."""
    shapes = ", ".join(str(one.shape if len(one.shape) > 1 else one.shape[0]) for one in members)
    return f"({members[0].text('s')} for s in [{shapes}])"


def _adjacent(drawn: Sequence[Drawn]) -> list[_Group]:
    return [_group(list(run)) for _, run in groupby(drawn, key=_alike)]


def _gathered(drawn: Sequence[Drawn]) -> list[_Group]:
    """Those of one shape by one draw, wherever they stand; what is left by one draw a manner."""
    alike = {key: [a for a in drawn if _alike(a) == key] for key in map(_alike, drawn)}
    groups = [run for run in alike.values() if len(run) > 1]
    single = [run[0] for run in alike.values() if len(run) == 1]
    manners = dict.fromkeys((a.before, a.after) for a in single)
    rest = [[a for a in single if (a.before, a.after) == manner] for manner in manners]
    return [_group(run) for run in (*rest, *groups)]


def _listed(drawn: Sequence[Drawn], left: int) -> list[_Group]:
    """The most neighbours of one manner in a list, but for so many of the last groups."""
    runs = _adjacent(drawn)
    spans = [list(span) for _, span in groupby(runs[: max(0, len(runs) - left)], key=_manner_of)]
    longest = max(spans, key=lambda span: sum(len(run.members) for run in span), default=[])
    members = [one for run in longest for one in run.members]
    if len(members) < 3 or any(one.edits for one in members):
        return runs
    text = _each(members).replace("(", "[", 1)[:-1] + "]"
    start = runs.index(longest[0])
    listed = _Group(tuple(members), LIST, text)
    return [*runs[:start], listed, *runs[start + len(longest) :]]


def _manner_of(run: _Group) -> tuple[str, str]:
    return run.members[0].before, run.members[0].after


def _text(
    entry: str,
    case: BuiltCase,
    given: Sequence[Argument],
    groups: Sequence[_Group],
    inner: Sequence[str],
    most: int,
) -> Recipe | None:
    """The groups `inner` are drawn in the call itself; None where they cannot be."""
    order = [a.name for a in _ordered(case, given)]
    texts = {name: name for name in order}
    setup = []
    for a in given:
        if isinstance(a, Given) and a.tensor and len(a.text) > most:
            setup.append(f"{a.name} = {a.text}")
        elif isinstance(a, Given):
            texts[a.name] = a.text
    for group in groups:
        if group.target in inner or group.target == LIST:
            first, *others = group.names
            at = order.index(first)
            if order[at : at + len(group.names)] != group.names:
                return None
            if others and any(name in case.keywords for name in group.names):
                return None
            one = group.text if group.target in inner else LIST
            texts[first] = f"*{one}" if others else one
            texts.update(dict.fromkeys(others, ""))
        if group.target not in inner:
            setup.append(f"{group.target} = {group.text}")
            for member in group.members:
                setup += edit_text(member.name, member.edits, case.sizes)
    said = [f"{n}={texts[n]}" if n in case.keywords else texts[n] for n in order]
    return Recipe(tuple(setup), f"{entry}({', '.join(text for text in said if text)})", case)
