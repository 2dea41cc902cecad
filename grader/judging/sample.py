"""The fault in a few numbers: a program that a learner can paste, run by their code and by ours.

What is said of the program was seen: the worker called the submission with its inputs, and the
reference gave the right result for the same. Where no program is short enough, or none shows the
fault, a row of the smallest failing case stands in.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any

import torch
from torch import Tensor

from grader.feedback.words import clean
from grader.isolation.calls import Call
from grader.judging.answers import Answer, record, request
from grader.judging.cases import BuiltCase, find
from grader.judging.compare import Difference, compare, unravel
from grader.judging.oracle import Oracle
from grader.judging.place import size
from grader.judging.probes import Fact
from grader.judging.program import WIDTHS
from grader.judging.recipe import Recipe, imports, recipes, twice
from grader.judging.trial import Timed, Trial, Worker, WorkerFactory
from grader.report import Sample

SHOWN = 6
"""Numbers of one row at most."""

CASES = 4
TRIES = 16
"""Failing cases that programs are made after, and programs that are run."""

CUT = "does not depend on the inputs for autograd"
"""What a worker says of an output that requires no gradient."""

Show = Callable[[Recipe], "Sample | None"]

Effort = tuple[bool, bool]
"""What makes a program harder to read: lines wider than the usual screen; tensors without names."""


class Sampler:
    """Finds the sample of one trial; the worker that holds the submission is asked again."""

    def __init__(
        self,
        question: Mapping[str, Any],
        oracle: Oracle,
        worker: Worker,
        trial: Trial,
        filename: str,
        worker_factory: WorkerFactory,
        seconds: float,
    ) -> None:
        self.question = question
        self.oracle = oracle
        self.worker = worker
        self.trial = trial
        self.worker_factory = worker_factory
        self.seconds = seconds  # left for processes of their own, the loading of the file included
        self.facts: list[Fact] = []
        self.imports = imports(question, filename)
        self.numpy = question["framework"] == "numpy"

    def sample(self) -> Sample | None:
        """What stands first in the verdict is shown; None where there is nothing to show."""
        repetition = self.trial.repetition
        if repetition is not None and repetition.case and repetition.how in ("differs", "depends"):
            if repetition.how == "differs":
                return self._first([repetition.case], self._unsteady)
            return self._stale(repetition.case)
        for cases, show in self._faults():
            if not cases:
                continue
            found = None if self.trial.stopped else self._first(cases, show)
            if found is None and show == self._raised and self._clean_alone(cases[0]):
                self.facts.append(Fact("alone"))
            return found or self._row()
        return None

    def _faults(self) -> Iterator[tuple[list[BuiltCase], Show]]:
        answers = list(self.trial.answers.values())
        yield [a.case for a in answers if a.outcome.status == "exception"], self._raised
        sound = [a for a in answers if a.returned and a.kinds_fit and a.count_fits]
        yield [a.case for a in sound if not a.shapes_fit], self._shape
        yield [a.case for a in sound if not a.dtypes_fit], self._dtype
        yield [case for case, _ in self.trial.changed], self._changed
        yield [a.case for a in answers if a.differences], self._values
        slopes = [s for s in self.trial.slopes.values() if not s.right]
        yield [s.case for s in slopes if s.outcome.status == "returned"], self._gradient

    def _first(self, cases: Sequence[BuiltCase], show: Show) -> Sample | None:
        """The sample of the first program that shows the fault: after small cases first, and the
        harder ones to read last."""
        steady = self.trial.repetition is not None and not self.trial.repetition.how
        try_out = show if steady and show not in (self._raised, self._shape) else self._alone(show)
        harder: list[tuple[Effort, Recipe]] = []

        def easier() -> Iterator[Recipe]:
            for effort, text in self._texts(cases, show):
                if any(effort):
                    harder.append((effort, text))
                else:
                    yield text
            for _, text in sorted(harder, key=lambda pair: pair[0]):
                yield text

        for text in islice(easier(), TRIES):
            recipe = text.made()
            sample = try_out(recipe) if recipe is not None else None
            if sample is not None:
                return sample
        return None

    def _texts(self, cases: Sequence[BuiltCase], show: Show) -> Iterator[tuple[Effort, Recipe]]:
        """The easiest text of each way to write one of the cases down."""
        for case in sorted(cases, key=size)[:CASES]:
            declared = find(self.question, case.id)
            for texts in recipes(self.question, declared, case):
                best = self._easiest(texts, show)
                if best is not None:
                    yield best

    def _easiest(self, texts: Iterable[Recipe], show: Show) -> tuple[Effort, Recipe] | None:
        """The first of those that fit, of those that are easiest to read."""
        best: tuple[Effort, Recipe] | None = None
        for recipe in texts:
            if not recipe.named and show in (self._unsteady, self._changed, self._gradient):
                continue
            lines = recipe.lines(self.imports, f"print({recipe.call}[0, 0, 0])")
            if lines is None:
                continue
            plain = recipe.named and lines[0].startswith("import torch")
            effort = max(map(len, lines)) > WIDTHS[0], not plain
            if best is None or effort < best[0]:
                best = effort, recipe
                if not any(effort):
                    break
        return best

    def _alone(self, show: Show) -> Show:
        """In a process that did nothing before, as the learner's Python: where results may hang on
        earlier calls, or were never asked for twice."""

        def shown(recipe: Recipe) -> Sample | None:
            if self.seconds <= 0:
                return None
            before, began = self.worker, time.monotonic()
            with self.worker_factory() as fresh:
                self.worker = Timed(fresh, self.seconds)
                try:
                    return show(recipe) if fresh.load().status == "returned" else None
                finally:
                    self.worker = before
                    self.seconds -= time.monotonic() - began

        return shown

    def _answer(self, recipe: Recipe) -> Answer:
        return record(recipe.case, self.worker.call(request(recipe.case)), self.oracle)

    def _made(
        self, recipe: Recipe, last: Sequence[str], shown: str, expected: str, verb: str = "prints"
    ) -> Sample | None:
        code = recipe.lines(self.imports, *last)
        if code is None or (shown == expected and verb == "prints"):
            return None
        return Sample(code, "", verb, shown, expected)  # type: ignore[arg-type]

    def _raised(self, recipe: Recipe) -> Sample | None:
        outcome = self.worker.call(request(recipe.case))
        if outcome.status != "exception":
            return None
        error = " ".join(clean(outcome.error, 300).split())
        return self._made(recipe, [recipe.call], error, "", "raises")

    def _clean_alone(self, case: BuiltCase) -> bool:
        """Whether a call that raised does not in a process that did nothing before."""
        if self.seconds <= 0:
            return False
        with self.worker_factory() as fresh:
            loaded = fresh.load()
            return loaded.status == "returned" and fresh.call(request(case)).status == "returned"

    def _unsteady(self, recipe: Recipe) -> Sample | None:
        """The same call twice."""
        first, second = self._answer(recipe), self._answer(recipe)
        if first.outputs is None or second.outputs is None:
            return None
        for n, (name, value) in enumerate(first.outputs.items()):
            if not bool(value.isnan().any()) and bool((second.outputs[name] != value).any()):
                part = recipe.call + self._part(n)
                last = f"print(({part} == {part}).all())"
                shown, right = ("False", "True")
                if not self.numpy:
                    shown, right = f"tensor({shown})", f"tensor({right})"
                return self._made(recipe, [last], shown, right)
        return None

    def _stale(self, case: BuiltCase) -> Sample | None:
        """A call, and another of the same shapes that ought to be right."""
        declared = find(self.question, case.id)
        pair = twice(self.question, declared, case)
        if pair is None:
            return None
        first, both = pair

        def after(recipe: Recipe) -> Sample | None:
            self.worker.call(request(first.case))
            return self._values(recipe)

        return self._alone(after)(both)

    def _shape(self, recipe: Recipe) -> Sample | None:
        answer = self._answer(recipe)
        if not (answer.returned and answer.kinds_fit and answer.count_fits):
            return None
        specs = list(answer.case.outputs.values())
        for n, (header, spec) in enumerate(zip(answer.headers, specs, strict=True)):
            if header.shape != spec.shape:
                last = f"print({recipe.call}{self._part(n)}.shape)"
                shown, right = (self._size(shape) for shape in (header.shape, spec.shape))
                return self._made(recipe, [last], shown, right)
        return None

    def _size(self, shape: tuple[int, ...]) -> str:
        return str(shape) if self.numpy else str(torch.Size(shape))

    def _dtype(self, recipe: Recipe) -> Sample | None:
        answer = self._answer(recipe)
        if not (answer.returned and answer.kinds_fit and answer.count_fits):
            return None
        lead = "" if self.numpy else "torch."
        specs = list(answer.case.outputs.values())
        for n, (header, spec) in enumerate(zip(answer.headers, specs, strict=True)):
            if header.dtype not in spec.dtypes:
                last = f"print({recipe.call}{self._part(n)}.dtype)"
                right = " or ".join(lead + name for name in spec.dtypes)
                return self._made(recipe, [last], lead + clean(header.dtype, 30), right)
        return None

    def _changed(self, recipe: Recipe) -> Sample | None:
        outcome = self.worker.call(request(recipe.case))
        if outcome.status != "returned" or not outcome.inputs_changed:
            return None
        name = recipe.case.names[outcome.inputs_changed[0]]
        if name not in "; ".join(recipe.setup).replace(",", " ").replace(";", " ").split():
            return None  # written inside the call: there is nothing to look at afterwards
        copy = f"before = {name}.{'copy' if self.numpy else 'clone'}()"
        last = "torch.equal({0}, before)" if not self.numpy else "({0} == before).all()"
        kept = replace(recipe, setup=(*recipe.setup, copy))
        lines = [f"{recipe.call}; print({last.format(name)})"]
        return self._made(kept, lines, "False", "True")

    def _values(self, recipe: Recipe) -> Sample | None:
        answer = self._answer(recipe)
        if not answer.differences or answer.outputs is None:
            return None
        truth = self.oracle.truth(answer.case)
        for found in answer.differences:
            yours = answer.outputs[found.name]
            right = self._rounded(truth.expected[found.name], answer.case, found.name)
            at = self._visible(found, yours, right)
            if at is not None:
                n = list(answer.case.outputs).index(found.name)
                short = ".round(4)" if self.numpy and yours.is_floating_point() else ""
                last = f"print({recipe.call}{self._part(n)}{_index(at)}{short})"
                made = self._made(recipe, [last], self._text(yours[at]), self._text(right[at]))
                if made is not None:
                    return made
        return None

    def _gradient(self, recipe: Recipe) -> Sample | None:
        """The gradient of sum(out * out): a plain sum would hide what a softmax does."""
        answer = self._answer(recipe)
        case = answer.case
        if self.numpy or not answer.values_right or len(case.outputs) != 1 or not case.gradients:
            return None
        assert answer.outputs is not None
        (out,) = answer.outputs.values()
        failing = {n.removesuffix(".grad") for s in self.trial.slopes.values() for n in _names(s)}
        name = next((n for n in case.gradients if n in failing), case.gradients[0])
        whole = request(case)
        cotangents: list[Tensor | None] = [2 * out]
        only = replace(case, gradients=(name,))
        outcome = self.worker.call(
            Call(whole.args, whole.kwargs, whole.outputs, [case.names.index(name)], cotangents)
        )
        if outcome.status != "returned":
            return None
        truth = self.oracle.slopes(only, cotangents)
        ready = replace(recipe, setup=(*recipe.setup, f"{name}.requires_grad_()"))
        call = f"{recipe.call}.square().sum().backward()"
        right = truth.expected[name].float()
        if CUT in outcome.gradient_error:
            return self._made(ready, [f"print({recipe.call}.requires_grad)"], "False", "True")
        if outcome.gradient_error:
            error = " ".join(clean(outcome.gradient_error, 300).split())
            return self._made(ready, [call], error, "", "raises")
        (given,) = outcome.gradients
        if given is None:
            whole_of_it = f"a tensor of shape {tuple(right.shape)}"
            return self._made(ready, [call, f"print({name}.grad)"], "None", whole_of_it)
        found = compare(f"{name}.grad", given, truth.expected[name], truth.allowed[name])
        at = self._visible(found, given, right) if found is not None else None
        if at is None:
            return None
        last = [call, f"print({name}.grad{_index(at)})"]
        return self._made(ready, last, self._text(given[at]), self._text(right[at]))

    def _row(self) -> Sample | None:
        """The row of the worst entry in the smallest case with wrong values."""
        wrong = [a for a in self.trial.answers.values() if a.differences]
        if not wrong:
            return None
        answer = min(wrong, key=lambda a: size(a.case))
        assert answer.outputs is not None
        found = max(answer.differences, key=lambda d: d.ratio)
        yours = answer.outputs[found.name]
        expected = self.oracle.truth(answer.case).expected[found.name]
        right = self._rounded(expected, answer.case, found.name)
        at = self._window(found.index, yours)
        if self._text(yours[at]) == self._text(right[at]):
            return None
        return Sample(
            of=found.name + _index(at), shown=self._text(yours[at]), expected=self._text(right[at])
        )

    def _part(self, n: int) -> str:
        return f"[{n}]" if len(self.question["outputs"]) > 1 else ""

    def _rounded(self, expected: Tensor, case: BuiltCase, name: str) -> Tensor:
        return expected.to(getattr(torch, case.outputs[name].dtypes[0]))

    def _text(self, value: Tensor) -> str:
        if not self.numpy:
            return str(value)
        array = value.numpy()
        return str(array.round(4) if value.is_floating_point() else array)

    def _visible(
        self, found: Difference, yours: Tensor, right: Tensor
    ) -> tuple[int | slice, ...] | None:
        """The first wrong row in which the printed numbers differ; few numbers as a whole."""
        if yours.numel() <= SHOWN + 2 and yours.dim() < 3:
            return () if self._text(yours) != self._text(right) else None
        rows = found.wrong.flatten(0, -2) if yours.dim() > 1 else found.wrong[None]
        for row in islice(rows.any(-1).nonzero().flatten().tolist(), 50):
            lead = unravel(row, tuple(yours.shape[:-1]))
            at = self._window((*lead, int(rows[row].int().argmax())), yours)
            if self._text(yours[at]) != self._text(right[at]):
                return at
        return None

    @staticmethod
    def _window(index: tuple[int, ...], value: Tensor) -> tuple[int | slice, ...]:
        """The row that holds an entry, or the part of it where it is long."""
        most = SHOWN if value.is_floating_point() else SHOWN + 2
        if value.dim() == 0 or value.shape[-1] <= most:
            return index[:-1]
        start = most * (index[-1] // most)
        return (*index[:-1], slice(start or None, min(start + most, value.shape[-1])))


def _names(slopes: Any) -> list[str]:
    return [d.name for d in slopes.differences]


def _index(at: tuple[int | slice, ...]) -> str:
    said = []
    for one in at:
        if isinstance(one, slice):
            said.append(f"{'' if one.start is None else one.start}:{one.stop}")
        else:
            said.append(str(one))
    return f"[{', '.join(said)}]" if said else ""
