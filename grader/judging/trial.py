"""The conversation with the worker: every case, gradients, and the same calls once more."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Protocol

import torch
from torch import Tensor

from grader.isolation.calls import Call, Outcome
from grader.judging.answers import Answer, record, request
from grader.judging.cases import BuiltCase
from grader.judging.compare import Difference, compare, ratios
from grader.judging.memories import OTHER_DRAW, others
from grader.judging.oracle import Oracle
from grader.judging.verdicts import ENDS

if TYPE_CHECKING:
    from grader.judging.costs import Weighed

FRESH_DRAWS = 2
REPEATED = 3


class Worker(Protocol):
    """What the judge needs of `grader.isolation.worker_handle.Worker`."""

    def __enter__(self) -> Worker: ...
    def __exit__(self, *exc: object) -> None: ...
    def load(self) -> Outcome: ...
    def call(self, call: Call) -> Outcome: ...


ROUNDED_AWAY = 1e-6
"""Of the largest gradient: what float64 leaves of one that is exactly zero lies far below."""

WorkerFactory = Callable[[], Worker]


class Timed:
    """A worker within a stage: its calls share what is left of the stage's time."""

    def __init__(self, worker: Worker, seconds: float) -> None:
        self.worker = worker
        self.left = seconds

    def __enter__(self) -> Timed:
        return self

    def __exit__(self, *exc: object) -> None:
        return None

    def load(self) -> Outcome:
        return self.worker.load()

    def call(self, call: Call) -> Outcome:
        if self.left <= 0:
            return Outcome("timeout", detail={"limit": "stage"})
        outcome = self.worker.call(replace(call, seconds=self.left))
        self.left -= outcome.seconds
        return outcome


@dataclass(frozen=True)
class Slopes:
    """The gradients of one case. `unreached` names the inputs that the graph does not lead to."""

    case: BuiltCase
    outcome: Outcome
    differences: tuple[Difference, ...] = ()
    unreached: tuple[str, ...] = ()
    zero: tuple[str, ...] = ()

    @property
    def right(self) -> bool:
        ran = self.outcome.status == "returned" and not self.outcome.gradient_error
        return ran and not self.differences and not self.unreached


@dataclass(frozen=True)
class Repetition:
    """How a second call went: "differs", "depends", "stopped", "load" where the file did not load
    again, "overwritten" where it wrote into what the call before had returned, or "" where it was
    the same."""

    how: str = ""
    case: BuiltCase | None = None
    outcome: Outcome | None = None
    difference: float = 0.0


@dataclass
class Trial:
    """All that one submission did. `stopped` is the check on which the run ended."""

    loaded: Outcome
    answers: dict[str, Answer] = field(default_factory=dict)  # by "case" or "case/dtype"
    slopes: dict[str, Slopes] = field(default_factory=dict)  # by case id
    changed: list[tuple[BuiltCase, tuple[str, ...]]] = field(default_factory=list)
    overwrote: BuiltCase | None = None  # the first case whose call wrote into an earlier result
    repetition: Repetition | None = None
    stopped: str = ""
    seconds: float = 0.0
    printed: list[str] = field(default_factory=list)
    costs: list[Weighed] = field(default_factory=list)

    def note(self, case: BuiltCase, outcome: Outcome) -> None:
        """Keep what every call may show beside its values."""
        if outcome.stdout:
            self.printed.append(outcome.stdout)
        names = tuple(case.names[i] for i in outcome.inputs_changed if i < len(case.names))
        if names:
            self.changed.append((case, names))
        if outcome.overwrote and self.overwrote is None:
            self.overwrote = case


def key(case_id: str, dtype: str) -> str:
    """The part of a check's id that names the case: float32 goes without saying."""
    return case_id if dtype == "float32" else f"{case_id}/{dtype}"


def dtypes_of(declared: Mapping[str, Any]) -> list[str]:
    """float32 first: the others are skipped where it fails."""
    return sorted(declared["dtypes"], key=lambda dtype: dtype != "float32")


class Conductor:
    """Runs a trial. Keeps the worker for the questions that naming and probing put later."""

    def __init__(
        self,
        question: Mapping[str, Any],
        cases: Sequence[Mapping[str, Any]],
        oracle: Oracle,
        seed: int,
        worker_factory: WorkerFactory,
    ) -> None:
        self.question = question
        self.cases = cases
        self.oracle = oracle
        self.seed = seed
        self.worker_factory = worker_factory

    def of(self, cases: Sequence[Mapping[str, Any]]) -> Conductor:
        """The same for other cases."""
        return Conductor(self.question, cases, self.oracle, self.seed, self.worker_factory)

    def values(self, worker: Worker, trial: Trial) -> None:
        """Every case in every dtype, until one ends the run or the stage's time is up, of which
        the file's loading took its part."""
        timed = Timed(worker, max(0.0, self.question["seconds"] - trial.loaded.seconds))
        for declared in self.cases:
            for dtype in dtypes_of(declared):
                first = trial.answers.get(declared["id"])
                if dtype != "float32" and first is not None and not first.values_right:
                    continue
                name = key(declared["id"], dtype)
                case = self.oracle.draw(declared, dtype, self.seed)
                outcome = timed.call(request(case))
                trial.seconds += outcome.seconds
                if outcome.status == "timeout" and trial.loaded.seconds > outcome.seconds:
                    outcome.detail["loading"] = f"{trial.loaded.seconds:.1f} s"
                trial.answers[name] = record(case, outcome, self.oracle)
                trial.note(case, outcome)
                slow = outcome.status == "exception" and timed.left <= 0  # the exception is told
                if outcome.status in ENDS or slow:
                    trial.stopped = f"values/{name}"
                    return

    def gradients(self, worker: Worker, trial: Trial) -> None:
        """By value, in the first dtype of each case whose values are right."""
        timed = Timed(worker, self.question["seconds"])
        for declared in self.cases:
            answer = trial.answers.get(key(declared["id"], dtypes_of(declared)[0]))
            if answer is None or not answer.values_right or not answer.case.gradients:
                continue
            if trial.changed:
                return  # a leaf that requires its gradient may not be written into at all
            case = answer.case
            cotangents = self.oracle.cotangents(case, self.seed)
            positions = [case.names.index(name) for name in case.gradients]
            whole = request(case)
            outcome = timed.call(
                Call(whole.args, whole.kwargs, whole.outputs, positions, cotangents)
            )
            trial.slopes[case.id] = self._slopes(case, outcome, cotangents)
            trial.note(case, outcome)
            if outcome.status == "returned" and record(case, outcome, self.oracle).differences:
                trial.repetition = Repetition("differs", case, outcome)  # right without gradients
                return
            slow = outcome.status == "exception" and timed.left <= 0
            if outcome.status in ENDS or slow:
                trial.stopped = f"gradients/{case.id}"
                return

    def _slopes(self, case: BuiltCase, outcome: Outcome, cotangents: list[Tensor | None]) -> Slopes:
        if outcome.status != "returned" or outcome.gradient_error:
            return Slopes(case, outcome)
        truth = self.oracle.slopes(case, cotangents)
        found, unreached, zero = [], [], []
        largest = max((_size(value) for value in truth.expected.values()), default=0.0)
        for name, gradient in zip(case.gradients, outcome.gradients, strict=True):
            right, allowed = truth.expected[name], truth.allowed[name]
            given = torch.zeros_like(right) if gradient is None else gradient
            if gradient is None and _size(right) > ROUNDED_AWAY * largest:
                allowed = torch.zeros_like(allowed)  # a cut graph is no rounding, however coarse
            difference = compare(f"{name}.grad", given, right, allowed)
            if difference is None:
                continue
            found.append(difference)
            if gradient is None:
                unreached.append(name)
            elif not bool(gradient.any()):
                zero.append(name)
        return Slopes(case, outcome, tuple(found), tuple(unreached), tuple(zero))

    def repeat(self, worker: Worker, trial: Trial) -> None:
        """A result may depend on its arguments alone.

        Some calls again, in the same process; inputs of the same shapes with other values there;
        then a call of every case in a fresh process, in the reverse order.
        """
        given = [answer for answer in trial.answers.values() if answer.outputs is not None]
        if not given or trial.repetition is not None:
            return
        few = sorted(given, key=lambda answer: answer.case.entries())[:REPEATED]
        # Where values are wrong already, the whole verdict is to come within the one limit.
        wrong = any(answer.differences for answer in given)
        seconds = self.spare(trial) if wrong else 2 * self.question["seconds"]
        timed = Timed(worker, seconds)
        found = self._again(timed, trial, few) or self._other_values(timed, trial, given)
        if found is None:
            with self.worker_factory() as fresh:
                loaded = fresh.load()
                if loaded.status == "returned":
                    each = {answer.case.id: answer for answer in reversed(given)}
                    found = self._again(Timed(fresh, seconds), trial, list(each.values()))
                else:
                    found = Repetition("load", None, loaded)
        if found is None and trial.overwrote is not None:
            found = Repetition("overwritten", trial.overwrote)
        if wrong and found is not None and found.how == "stopped" and _out_of_time(found):
            trial.stopped = "repeatable"
            return  # nothing is known of it, and enough of the values
        trial.repetition = found or Repetition()
        if found is not None and found.how == "stopped":
            trial.stopped = "repeatable"

    def spare(self, trial: Trial) -> float:
        """Seconds for what is asked of a submission whose values are wrong."""
        spent = trial.loaded.seconds + trial.seconds
        return max(0.5, (float(self.question["seconds"]) - spent) / 2)

    def _again(self, worker: Worker, trial: Trial, given: Sequence[Answer]) -> Repetition | None:
        for first in given:
            outcome = worker.call(request(first.case))
            trial.note(first.case, outcome)
            if outcome.status != "returned":
                return Repetition("stopped", first.case, outcome)
            second = record(first.case, outcome, self.oracle)
            apart = distance(first, second, self.oracle)
            if apart > 1:
                return Repetition("differs", first.case, outcome, apart)
        return None

    def _other_values(
        self, worker: Worker, trial: Trial, given: Sequence[Answer]
    ) -> Repetition | None:
        """A cache that remembers a shape, or an address, gives the old answer for the new values.

        The old ones come once more just before: the worker gives the new ones the same objects, at
        the same addresses as a rule; and a buffer that the results share is written over.
        """
        right = [answer for answer in given if answer.values_right]
        right.sort(key=lambda answer: answer.case.entries())
        for first in right[-FRESH_DRAWS:]:
            declared = next(c for c in self.cases if c["id"] == first.case.id)
            thorough = first is right[-1]
            for other in others(self.oracle, declared, first.case, self.seed, thorough):
                found = self._again(worker, trial, [first]) or self._other(worker, trial, other)
                if found is not None:
                    return found
        return None

    def _other(self, worker: Worker, trial: Trial, other: BuiltCase) -> Repetition | None:
        """Another call, right after those that may be remembered."""
        outcome = worker.call(request(other))
        trial.note(other, outcome)
        if outcome.status != "returned":
            return Repetition("stopped", other, outcome)
        again = record(other, outcome, self.oracle)
        if again.values_right:
            return None
        alone = self.alone(other)
        if isinstance(alone, Outcome):
            return Repetition("load", None, alone)
        if alone.values_right:
            return Repetition("depends", other, outcome)
        if distance(again, alone, self.oracle) > 1:
            return Repetition("differs", other, outcome)
        # Wrong for these values in any process: the case itself fails. Where it was grown, its
        # title (an empty cache) may hold no longer: then only where no other case fails.
        name = key(other.id, other.dtype)
        grown = other.sizes != trial.answers[name].case.sizes
        if not grown or all(answer.values_right for answer in trial.answers.values()):
            trial.answers[name] = again
        return None

    def alone(self, case: BuiltCase) -> Answer | Outcome:
        """The answer to one call in a process that did nothing before, or why it did not load."""
        with self.worker_factory() as fresh:
            loaded = fresh.load()
            if loaded.status != "returned":
                return loaded
            return record(case, fresh.call(request(case)), self.oracle)

    def more(self, worker: Worker, n: int) -> list[Answer]:
        """Answers to a further draw of all the cases in float32, as far as the worker gets."""
        answers: list[Answer] = []
        for declared in self.cases:
            case = self.oracle.draw(declared, dtypes_of(declared)[0], self.seed + n * OTHER_DRAW)
            outcome = worker.call(request(case))
            if outcome.status in ENDS:
                break
            answers.append(record(case, outcome, self.oracle))
        return answers


def _out_of_time(found: Repetition) -> bool:
    return found.outcome is not None and found.outcome.status == "timeout"


def distance(first: Answer, second: Answer, oracle: Oracle) -> float:
    """The largest difference of two answers to one call, in tolerances; inf where shapes differ."""
    if first.outputs is None or second.outputs is None:
        return 0.0 if first.outputs is second.outputs else float("inf")
    allowed = oracle.truth(first.case).allowed
    worst = 0.0
    for name, value in first.outputs.items():
        # A wrong answer may be larger than the right one, and so may its rounding.
        slack = torch.maximum(allowed[name], _rounding(value))
        ratio = ratios(second.outputs[name], value, slack)
        worst = max(worst, float(ratio.max()) if ratio.numel() else 0.0)
    return worst


def _rounding(value: Tensor) -> Tensor:
    if not value.is_floating_point():
        return torch.zeros(value.shape, dtype=torch.float64)
    eps = max(torch.finfo(value.dtype).eps, torch.finfo(torch.float32).eps)
    return torch.where(value.isfinite(), 16 * eps * value.double().abs(), 0.0)


def _size(value: Tensor) -> float:
    return float(value.abs().max()) if value.numel() else 0.0
