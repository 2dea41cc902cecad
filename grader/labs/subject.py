"""The learner's own file as the thing that is measured: run in the sandbox, timed from here."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from grader.feedback.words import clean, say
from grader.isolation.calls import Call, Limits, Outcome, OutputSpec
from grader.judging.checks import size_text
from grader.judging.verdicts import of_outcome
from grader.labs import FILE_SECONDS

if TYPE_CHECKING:
    from grader.judging.trial import Worker, WorkerFactory

RIGHT = 1e-3
"""Of the largest value: what is further off computes another thing. Accuracy is the grader's."""

REPEATED = "_repeated_by_the_lab"
_REPEATING = """

def {name}(times, first, *arguments):
    for one in arguments:
        one.reshape(-1)[::{page}].sum()
    rows = [one[..., 0, :] for one in arguments]
    result = arguments[0].clone()
    for turn in range(first, first + abs(times)):
        for row in rows:
            row.fill_(turn * {step} % 1)
        if times > 0:
            result = {entry}(*arguments)
    return result

__import__("gc").disable()
"""
"""Stands behind the learner's own lines: any number of calls for one way into the process and back.
The first row of each argument is filled anew before each call, since what remembers its results
would take no time. A negative number does all of this but the calls, so that it can be taken off:
the filling, the way, and the mapping of the arguments, each page of which is looked at; a copy is
returned, since a result that is an argument would keep them mapped, for the next call to unmap. No
garbage is collected meanwhile, as in `timing`."""

STEP = 0.618034
"""Of what a row is filled with, modulo 1, from call to call: far from the last, and never again."""

PAGE = 1024
"""Numbers of a page of memory, or fewer."""


class Unmeasurable(Exception):
    """The learner's file cannot be measured: one sentence that says why, with the remedy."""


class Submission:
    """A learner's function. Use as a context manager."""

    def __init__(
        self,
        entry: str,
        problem: str,
        source: bytes,
        filename: str,
        factory: Callable[[bytes, str, str], WorkerFactory],
    ) -> None:
        self.entry = entry
        self.problem = problem
        self.filename = filename
        self._make = factory(source, filename, entry)
        repeating = _REPEATING.format(name=REPEATED, entry=entry, page=PAGE, step=STEP)
        self._make_repeating = factory(source + repeating.encode(), filename, REPEATED)

    def __enter__(self) -> Submission:
        with ExitStack() as stack:
            self._worker = stack.enter_context(self._make())
            self._load(self._worker)
            self._repeating = stack.enter_context(self._make_repeating())
            self._load(self._repeating)
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def _load(self, worker: Worker) -> None:
        outcome = worker.load()
        if outcome.status != "returned":
            raise Unmeasurable(
                f"{self.filename}: " + say("load", entry=self.entry, **_facts(outcome))
            )

    def check(self, arguments: Sequence[Tensor | int], expected: Sequence[Tensor]) -> None:
        """Raises Unmeasurable where the values are not those of the function that is meant."""
        self.compare(self.values(arguments, expected), arguments, expected)

    def values(self, arguments: Sequence[Tensor | int], like: Sequence[Tensor]) -> list[Tensor]:
        """One call's results, of the shapes and dtypes of `like`. Raises Unmeasurable."""
        return self._values(self._called(arguments, like), like)

    def held(
        self, arguments: Sequence[Tensor | int], expected: Sequence[Tensor]
    ) -> tuple[int, bool]:
        """As `check`: bytes of all tensors that one call has alive at once, the arguments apart,
        and whether all could be counted."""
        outcome = self._called(arguments, expected, count=True)
        self.compare(self._values(outcome, expected), arguments, expected)
        counts = outcome.counts
        return (0, False) if counts is None else (counts.held, not counts.unseen)

    def took(self, seconds: float, what: str) -> None:
        """Raises Unmeasurable where what is the slowest has no time above the noise."""
        if seconds <= 0:
            raise Unmeasurable(
                f"{self.filename} takes no time that can be measured for {what}: close other"
                " programs, and measure again."
            )

    def task(self, arguments: Sequence[Tensor], like: Tensor) -> Timed:
        """Calls with these arguments as a `timing.Task`; one result, of the shape and dtype of
        `like`."""
        return Timed(self, arguments, like)

    def repeated(
        self, times: int, first: int, arguments: Sequence[Tensor], like: Tensor
    ) -> tuple[float, list[Tensor]]:
        """Processor time of `_REPEATING`, of the process where the system tells, else of the clock
        on the wall; and the last result."""
        call = Call([times, first, *arguments], outputs=_specs([like]), measure="time")
        outcome = self._returned(self._repeating, call, arguments)
        seconds = outcome.seconds if outcome.usage is None else outcome.usage.cpu_seconds
        return seconds, [value for value in outcome.outputs if value is not None]

    def _called(
        self, arguments: Sequence[Tensor | int], like: Sequence[Tensor], count: bool = False
    ) -> Outcome:
        call = Call(list(arguments), outputs=_specs(like), count=count)
        outcome = self._returned(self._worker, call, arguments)
        if outcome.inputs_changed:
            raise Unmeasurable(
                f"{self.filename} alters the tensors that it is given, so each call would compute"
                f" something else: work on copies (drill grade {self.problem} {self.filename} says"
                " more)."
            )
        return outcome

    def _values(self, outcome: Outcome, like: Sequence[Tensor]) -> list[Tensor]:
        found = [value for value in outcome.outputs if value is not None]
        if len(found) != len(like) or len(outcome.headers) != len(like):
            wanted = " and ".join(f"{tuple(one.shape)} {_name(one.dtype)}" for one in like)
            raise Unmeasurable(
                f"{self.filename} does not return {wanted}: drill grade {self.problem}"
                f" {self.filename} says more."
            )
        return found

    def compare(
        self,
        found: Sequence[Tensor],
        arguments: Sequence[Tensor | int],
        expected: Sequence[Tensor],
    ) -> None:
        """As `check`, for values that were `found` already."""
        if not agree(found, expected):
            raise Unmeasurable(
                f"{self.filename} returns other values than `{self.entry}` should for tensors of"
                f" {_sizes(arguments)}, so measuring it tells nothing: drill grade {self.problem}"
                f" {self.filename} says more."
            )

    def _returned(self, worker: Worker, call: Call, arguments: Sequence[Tensor | int]) -> Outcome:
        outcome = worker.call(call)
        if outcome.status != "returned":
            raise Unmeasurable(f"{self.filename}: {_told(outcome, arguments)}")
        return outcome


class Timed:
    """A `timing.Task`: processor time of the submission's process as the system tells it, for so
    many calls on end, less that of none with the same arguments and a result as large."""

    def __init__(self, subject: Submission, arguments: Sequence[Tensor], like: Tensor) -> None:
        self._subject = subject
        self._arguments = arguments
        self._like = like
        self._calls = 0
        self._result: list[Tensor] = []

    def __call__(self, times: int) -> float:
        none, _ = self._subject.repeated(-times, self._calls, self._arguments, self._like)
        all_, self._result = self._subject.repeated(times, self._calls, self._arguments, self._like)
        self._calls += times
        return all_ - none

    def check(self, function: Callable[..., Tensor]) -> None:
        """Raises Unmeasurable where the call that was timed last did not return what `function`
        does: the values were right before anything was repeated, so something was remembered."""
        arguments = [one.clone() for one in self._arguments]
        for one in arguments:
            one[..., 0, :] = (self._calls - 1) * STEP % 1
        if not agree(self._result, [function(*arguments)]):
            raise Unmeasurable(
                f"{self._subject.filename} returns wrong values when it is called again and the"
                f" numbers in its tensors, of {_sizes(arguments)}, are others by then, so its time"
                " tells nothing: does it remember what earlier calls computed? Let each call"
                " compute anew."
            )


def agree(found: Sequence[Tensor], expected: Sequence[Tensor]) -> bool:
    """Whether values are as near as those of one function are, whatever its order of sums."""
    return len(found) == len(expected) and all(
        float((got.double() - right.double()).abs().max()) <= RIGHT * float(right.abs().max())
        for got, right in zip(found, expected, strict=True)
    )  # NaN is near nothing


def _specs(like: Sequence[Tensor]) -> list[OutputSpec]:
    return [OutputSpec(tuple(one.shape), (_name(one.dtype),)) for one in like]


def _shapes(arguments: Sequence[Tensor | int]) -> str:
    return ", ".join(
        str(tuple(one.shape)) if isinstance(one, Tensor) else str(one) for one in arguments
    )


def _sizes(arguments: Sequence[Tensor | int]) -> str:
    shapes = (tuple(one.shape) for one in arguments if isinstance(one, Tensor))
    return " and ".join(map(str, dict.fromkeys(shapes)))


def _name(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")


def _told(outcome: Outcome, arguments: Sequence[Tensor | int]) -> str:
    if outcome.status == "exception":
        error = clean(outcome.error, 300).rstrip(".")
        return say("exception", error=error, line=outcome.line, arguments=_shapes(arguments))
    return say("stopped", **_facts(outcome))


def _facts(outcome: Outcome) -> dict[str, object]:
    """What the templates of the feedback ask for."""
    detail = outcome.detail
    return {
        "status": outcome.status,
        "verdict": of_outcome(outcome),
        "error": clean(outcome.error, 300).rstrip("."),
        "line": outcome.line,
        "title": "",
        "limit": f"{FILE_SECONDS:g}",
        "detail": detail,
        "size": size_text(detail.get("limit")),
        "path": clean(str(detail.get("path", "")), 200),
        "operation": clean(str(detail.get("operation", detail.get("op", ""))), 100),
    }


def memory_limit() -> int:
    """Bytes that a submission may have."""
    return Limits().memory_bytes
