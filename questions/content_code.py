"""Checks of code and debug questions: the starter, the cases' sizes, names to be declared."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Iterable, Iterator, Mapping
from math import prod
from typing import Any

from questions.document import Document, Path_
from questions.findings import Finding
from questions.sizes import SizeError, evaluate

LARGEST_TENSOR = 1 << 24
"""Entries of one; drills stay far below, and a larger one takes the machine's memory."""


def check_code(question: Any, document: Document) -> Iterator[Finding]:
    """The findings about one code or debug question."""
    yield from _starter(question, document)
    yield from _names(question, document)
    for group in ("cases", "support"):
        ids = [case.id for case in getattr(question, group, ())]
        yield from once(document, (group,), ids, "id")
    yield from once(document, ("mistakes",), question.mistakes)
    yield from once(document, ("baselines",), question.baselines)
    seen = set()
    for at, case in all_cases(question):
        for finding in Sized(question, document, at, case).findings():
            # What is wrong in every case is told for the first.
            if (finding.line, finding.column) not in seen:
                seen.add((finding.line, finding.column))
                yield finding
    yield from _costs(question, document)
    yield from _probes(question, document)
    if question.kind == "debug":
        yield from _bugs(question, document)


def all_cases(question: Any) -> Iterator[tuple[Path_, Any]]:
    """The cases, and those of a kernel's support matrix, with their places."""
    for group in ("cases", "support"):
        for i, case in enumerate(getattr(question, group, ())):
            yield (group, i), case


def once(document: Document, path: Path_, ids: Iterable[str], key: str = "") -> Iterator[Finding]:
    """A finding for each id in the list at `path` that stands there before."""
    seen: set[str] = set()
    for i, id_ in enumerate(ids):
        if id_ in seen:
            place = (*path, i, key) if key else (*path, i)
            yield document.finding(place, f"`{id_}` stands there twice: each must be its own")
        seen.add(id_)


def _entry(question: Any) -> ast.FunctionDef | None:
    """The entry function as the starter defines it. Raises SyntaxError."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tree = ast.parse(question.starter)
    found = [n for n in tree.body if isinstance(n, ast.FunctionDef) and n.name == question.entry]
    return found[-1] if found else None


def _starter(question: Any, document: Document) -> Iterator[Finding]:
    try:
        entry = _entry(question)
    except SyntaxError as error:
        message = f"the starter is not valid Python: {error.msg}"
        yield document.line_of(("starter",), error.lineno or 1, message)
        return
    except (ValueError, RecursionError, MemoryError):
        yield document.finding(("starter",), "the starter is not valid Python: it cannot be read")
        return
    if entry is None:
        message = f"the starter defines no function `{question.entry}`: add it at the top level"
        yield document.finding(("starter",), message)
        return
    spec = entry.args
    positional = [a.arg for a in (*spec.posonlyargs, *spec.args)]
    wanted = list(question.inputs)
    if positional != wanted or spec.vararg or spec.kwonlyargs or spec.kwarg:
        message = (
            f"`{question.entry}` must take exactly ({', '.join(wanted)}), "
            "as `inputs` has them, in this order"
        )
        yield document.line_of(("starter",), entry.lineno, message)
        return
    with_default = set(positional[len(positional) - len(spec.defaults) :])
    for at, case in all_cases(question):
        for j, name in enumerate(case.omit):
            if name in wanted and name not in with_default:
                message = f"`{name}` is left out, but the starter gives it no default"
                yield document.finding((*at, "omit", j), message)


def _names(question: Any, document: Document) -> Iterator[Finding]:
    """Names that must be among the inputs or outputs."""
    inputs, outputs = question.inputs, question.outputs
    if not inputs:
        yield document.finding(("inputs",), "no inputs are declared: name each argument")
    if not outputs:
        yield document.finding(("outputs",), "no outputs are declared: name what is returned")
    yield from once(document, ("gradients",), question.gradients)
    for i, name in enumerate(question.gradients):
        place: Path_ = ("gradients", i)
        yield from _declared(document, place, name, inputs, "input")
        if name in inputs and not _is_float(inputs[name]):
            message = f"`{name}` holds no real numbers: it has no gradient"
            yield document.finding(place, message)
    for name, axes in question.axes.items():
        place = ("axes", name)
        yield from _declared(document, place, name, outputs, "output", key=True)
        if name in outputs and len(axes) != len(outputs[name].shape):
            message = f"`{name}` has {len(outputs[name].shape)} axes: name each of them"
            yield document.finding(place, message)
    for name, output in outputs.items():
        if output.dtype == "any-float" and question.framework != "numpy":
            message = "`any-float` is for NumPy questions: take `input`"
            yield document.finding(("outputs", name, "dtype"), message)
    for at, case in all_cases(question):
        for name in case.inputs:
            yield from _declared(document, (*at, "inputs", name), name, inputs, "input", key=True)
        for name in case.outputs:
            here = (*at, "outputs", name)
            yield from _declared(document, here, name, outputs, "output", key=True)
        for key in ("by_keyword", "omit"):
            for j, name in enumerate(getattr(case, key)):
                yield from _declared(document, (*at, key, j), name, inputs, "input")
        yield from once(document, (*at, "dtypes"), case.dtypes)
        if "float16" in case.dtypes and question.kind != "kernel":
            place = (*at, "dtypes", case.dtypes.index("float16"))
            yield document.finding(place, "float16 is for kernel questions alone: leave it out")
        if not case.dtypes:
            yield document.finding((*at, "dtypes"), "no dtype is left: give at least one")
        yield from _by_position(document, at, case, list(inputs))


def _by_position(document: Document, at: Path_, case: Any, names: list[str]) -> Iterator[Finding]:
    """An argument after one that is left out, or given by keyword, cannot go by position."""
    freed = ""
    for name in names:
        if name in case.omit or name in case.by_keyword:
            freed = freed or name
        elif freed:
            message = f"`{name}` comes after `{freed}`: add it to `by_keyword`, or leave it out too"
            yield document.finding((*at, "by_keyword" if case.by_keyword else "omit"), message)
            return


def _declared(
    document: Document,
    place: Path_,
    name: str,
    known: Mapping[str, Any],
    what: str,
    *,
    key: bool = False,
) -> Iterator[Finding]:
    if name not in known:
        message = f"`{name}` is no {what}: take one of {', '.join(known)}"
        yield document.finding(place, message, key=key)


def _is_float(declared: Any) -> bool:
    return getattr(declared, "fill", "none") in ("normal", "linear", "uniform", "values")


class Sized:
    """One case with what it inherits from its question."""

    def __init__(self, question: Any, document: Document, at: Path_, case: Any) -> None:
        self.question, self.document, self.case = question, document, case
        self.at = at

    def findings(self) -> Iterator[Finding]:
        for name, size in self.case.sizes.items():
            if size < 0:
                message = f"`{name}` is negative: a size is at least 0"
                yield self.document.finding((*self.at, "sizes", name), message)
            elif size > LARGEST_TENSOR:
                message = f"`{name}` is larger than {LARGEST_TENSOR}: make it smaller"
                yield self.document.finding((*self.at, "sizes", name), message)
        yield from self.size(self.question.reduction, ("reduction",), least=1)
        for group in ("inputs", "outputs"):
            own = getattr(self.case, group)
            for name, declared in {**getattr(self.question, group), **own}.items():
                place = (*self.at, group, name) if name in own else (group, name)
                if hasattr(declared, "shape"):
                    yield from self.tensor(declared, place)
                elif isinstance(declared.value, str):
                    yield from self.size(declared.value, (*place, "value"), least=None)

    def size(self, expression: Any, place: Path_, least: int | None = 0) -> Iterator[Finding]:
        try:
            value = evaluate(expression, self.case.sizes)
        except SizeError as error:
            yield self.document.finding(place, f"in case `{self.case.id}`, {error}")
            return
        if least is not None and value < least:
            message = f"in case `{self.case.id}` this is {value}: it must be at least {least}"
            yield self.document.finding(place, message)

    def tensor(self, declared: Any, place: Path_) -> Iterator[Finding]:
        found = [
            finding
            for axis, size in enumerate(declared.shape)
            for finding in self.size(size, (*place, "shape", axis))
        ]
        yield from found
        if found:
            return
        shape = [evaluate(size, self.case.sizes) for size in declared.shape]
        if prod(shape) > LARGEST_TENSOR:
            message = f"in case `{self.case.id}` it holds {prod(shape)} numbers: make it smaller"
            yield self.document.finding((*place, "shape"), message)
            return
        if not hasattr(declared, "fill"):
            return
        yield from self.fill(declared, place, shape)
        for i, edit in enumerate(declared.edits):
            yield from self.edit(edit, (*place, "edits", i), shape)

    def fill(self, declared: Any, place: Path_, shape: list[int]) -> Iterator[Finding]:
        report = self.document.finding
        if (declared.fill == "values") != (declared.values is not None):
            message = "`fill: values` and `values` go together: give both, or neither"
            yield report(place, message)
        elif declared.values is not None and len(declared.values) != prod(shape):
            message = (
                f"in case `{self.case.id}` the shape holds {prod(shape)} numbers, "
                f"but {len(declared.values)} are given"
            )
            yield report((*place, "values"), message)
        for i, value in enumerate(declared.values or ()):
            if isinstance(value, str):
                yield from self.size(value, (*place, "values", i), least=None)
        if declared.low > declared.high:
            yield report((*place, "low"), "`low` is above `high`: exchange them")
        if not 0 < declared.keep <= 1:
            yield report((*place, "keep"), "`keep` is a probability: above 0, at most 1")
        if declared.std < 0:
            yield report((*place, "std"), "`std` is negative: it must be at least 0")

    def edit(self, edit: Any, place: Path_, shape: list[int]) -> Iterator[Finding]:
        report = self.document.finding
        if sum(change is not None for change in (edit.set, edit.times, edit.plus)) != 1:
            yield report(place, "an edit has exactly one of `set`, `times` and `plus`")
        if len(edit.at) > len(shape):
            yield report((*place, "at"), f"`at` has {len(edit.at)} entries for {len(shape)} axes")
            return
        for axis, (index, length) in enumerate(zip(edit.at, shape, strict=False)):
            here = (*place, "at", axis)
            if isinstance(index, tuple):
                for end in index:
                    if end is not None:
                        yield from self.size(end, here, least=None)
            elif index is not None:
                found = list(self.size(index, here, least=None))
                yield from found
                if not found and not -length <= evaluate(index, self.case.sizes) < length:
                    message = f"in case `{self.case.id}` this is outside the axis of {length}"
                    yield report(here, message)


def _costs(question: Any, document: Document) -> Iterator[Finding]:
    yield from once(document, ("costs",), [cost.id for cost in question.costs], "id")
    for i, cost in enumerate(question.costs):
        at: Path_ = ("costs", i)
        for group in ("inputs", "outputs"):
            known = getattr(question, group)
            for name in getattr(cost, group):
                place = (*at, group, name)
                yield from _declared(document, place, name, known, group[:-1], key=True)
        yield from _sized(question, document, at, cost, cost)
        yield from _grown(document, at, cost)
        yield from _at_most(document, (*at, "at_most"), cost)
        if cost.again is not None:
            yield from _again(question, document, (*at, "again"), cost)
        if cost.outside is not None:
            yield from _outside(question, document, (*at, "outside"), cost)


def _sized(question: Any, document: Document, at: Path_, cost: Any, by: Any) -> Iterator[Finding]:
    """The findings about a cost at the sizes that `by` gives, then at those that are grown."""
    found = False
    for sizes in (by.sizes, {**by.sizes, **by.grow}):
        sized = cost.model_copy(update={"sizes": sizes})
        for finding in Sized(question, document, at, sized).findings():
            found = True
            yield finding
        if found:
            return


def _grown(document: Document, at: Path_, sized: Any) -> Iterator[Finding]:
    for name, size in sized.grow.items():
        if name not in sized.sizes:
            yield document.finding((*at, "grow", name), f"`{name}` is not among the sizes")
        elif size < 2 * sized.sizes[name]:
            message = f"`{name}` grows from {sized.sizes[name]}: make it at least twice as large"
            yield document.finding((*at, "grow", name), message)


def _at_most(document: Document, place: Path_, cost: Any) -> Iterator[Finding]:
    if cost.grow:
        if isinstance(cost.at_most, str) or cost.at_most < 1:
            message = "with `grow` this is how many times the measure may grow: a number above 1"
            yield document.finding(place, message)
        return
    if isinstance(cost.at_most, float):
        yield document.finding(place, "without `grow` this is a whole number, or over the sizes")
        return
    try:
        evaluate(cost.at_most, cost.sizes)
    except SizeError as error:
        yield document.finding(place, str(error))


def _again(question: Any, document: Document, at: Path_, cost: Any) -> Iterator[Finding]:
    again = cost.again
    yield from _grown(document, at, again)
    yield from _sized(question, document, at, cost, again)
    if not cost.grow or not again.grow:
        yield document.finding(at, "this sharpens the bound on a growth: give `grow`, twice")
    elif not isinstance(cost.at_most, str) and again.above >= cost.at_most:
        yield document.finding((*at, "above"), "nothing lies between this and `at_most`")


def _outside(question: Any, document: Document, at: Path_, cost: Any) -> Iterator[Finding]:
    outside = cost.outside
    yield from _grown(document, at, outside)
    # Its shapes stand in the cost; what is wrong with them is told for the sizes here.
    yield from _sized(question, document, at[:-1], cost, outside)
    if outside.time is None and outside.bytes is None:
        yield document.finding(at, "nothing is bounded: give `time`, `bytes` or both")
    if outside.time is not None and not outside.grow:
        yield document.finding((*at, "time"), "`time` bounds a growth: give `grow` too")
    if outside.bytes is None and outside.bytes_in_float64 is not None:
        yield document.finding((*at, "bytes_in_float64"), "give `bytes` too")
    for name in ("bytes", "bytes_in_float64"):
        if getattr(outside, name) is not None:
            try:
                evaluate(getattr(outside, name), {**outside.sizes, **outside.grow})
            except SizeError as error:
                yield document.finding((*at, name), str(error))


def _probes(question: Any, document: Document) -> Iterator[Finding]:
    for i, probe in enumerate(question.probes):
        at = ("probes", i)
        yield from _declared(document, (*at, "input"), probe.input, question.inputs, "input")
        yield from _declared(document, (*at, "output"), probe.output, question.outputs, "output")
        pairs = (
            ("axis", probe.axis, question.inputs.get(probe.input)),
            ("output_axis", probe.output_axis, question.outputs.get(probe.output)),
        )
        for key, axis, declared in pairs:
            if declared is None:
                continue
            if not hasattr(declared, "shape"):
                yield document.finding((*at, "input"), f"`{probe.input}` is no tensor: take one")
            elif not -len(declared.shape) <= axis < len(declared.shape):
                message = f"there are {len(declared.shape)} axes: count from 0, or back from -1"
                yield document.finding((*at, key), message)


def _bugs(question: Any, document: Document) -> Iterator[Finding]:
    lines = question.starter.rstrip("\n").split("\n")
    yield from once(document, ("bugs",), [bug.mistake for bug in question.bugs], "mistake")
    for i, bug in enumerate(question.bugs):
        at = ("bugs", i)
        if bug.mistake not in question.mistakes:
            message = f"`{bug.mistake}` is not among `mistakes`: add it there"
            yield document.finding((*at, "mistake"), message)
        if bug.line > len(lines):
            message = f"the shipped code has {len(lines)} lines, none numbered {bug.line}"
            yield document.finding((*at, "line"), message)
        elif not lines[bug.line - 1].strip() or lines[bug.line - 1].lstrip().startswith("#"):
            message = f"line {bug.line} of the shipped code holds no code: point to the bug"
            yield document.finding((*at, "line"), message)
