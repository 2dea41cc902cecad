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

def {name}(times, *arguments):
    for one in arguments:
        if hasattr(one, "reshape"):
            one.reshape(-1)[::{page}].sum()
    for _ in range(times - 1):
        {entry}(*arguments)
    return {entry}(*arguments) if times else arguments[0]

__import__("gc").disable()
"""
"""Stands behind the learner's own lines: any number of calls for one way into the process and back,
none at all too, so that this way and the mapping of the arguments, each page of which is looked at,
can be taken off. No garbage is collected meanwhile, as in `timing`."""

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
        repeating = _REPEATING.format(name=REPEATED, entry=entry, page=PAGE)
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
        found = self.values(arguments, expected)
        for got, right in zip(found, expected, strict=True):
            apart = float((got.double() - right.double()).abs().max())
            if not apart <= RIGHT * float(right.abs().max()):  # NaN too
                raise Unmeasurable(
                    f"{self.filename} returns other values than `{self.entry}` should, so its time"
                    f" tells nothing: drill grade {self.problem} {self.filename} says more."
                )

    def values(self, arguments: Sequence[Tensor | int], like: Sequence[Tensor]) -> list[Tensor]:
        """One call's results, of the shapes and dtypes of `like`. Raises Unmeasurable."""
        call = Call(list(arguments), outputs=_specs(like))
        outcome = self._returned(self._worker, call, arguments)
        found = [value for value in outcome.outputs if value is not None]
        if len(found) != len(like) or len(outcome.headers) != len(like):
            wanted = " and ".join(f"{tuple(one.shape)} {_name(one.dtype)}" for one in like)
            raise Unmeasurable(
                f"{self.filename} does not return {wanted}: drill grade {self.problem}"
                f" {self.filename} says more."
            )
        return found

    def held(self, arguments: Sequence[Tensor | int], like: Sequence[Tensor]) -> tuple[int, bool]:
        """Bytes of all tensors that one call has alive at once, the arguments apart, and whether
        all could be counted."""
        call = Call(list(arguments), outputs=_specs(like), count=True)
        outcome = self._returned(self._worker, call, arguments)
        counts = outcome.counts
        return (0, False) if counts is None else (counts.held, not counts.unseen)

    def took(self, seconds: float, what: str) -> None:
        """Raises Unmeasurable where what is the slowest has no time above the noise."""
        if seconds <= 0:
            raise Unmeasurable(
                f"{self.filename} takes no time that can be measured for {what}: does it remember"
                " what earlier calls returned?"
            )

    def task(
        self, arguments: Sequence[Tensor | int], like: Sequence[Tensor]
    ) -> Callable[[int], float]:
        """A `timing.Task`: processor time of the submission's process as the system tells it, for
        so many calls on end, less that of none with the same arguments and a result as large."""
        specs = _specs(like)

        def task(times: int) -> float:
            none, all_ = (self._seconds(n, arguments, specs) for n in (0, times))
            return all_ - none

        return task

    def _seconds(
        self, times: int, arguments: Sequence[Tensor | int], outputs: list[OutputSpec]
    ) -> float:
        """Of the process where the system tells, else of the clock on the wall."""
        call = Call([times, *arguments], outputs=outputs, measure="time")
        outcome = self._returned(self._repeating, call, arguments)
        return outcome.seconds if outcome.usage is None else outcome.usage.cpu_seconds

    def _returned(self, worker: Worker, call: Call, arguments: Sequence[Tensor | int]) -> Outcome:
        outcome = worker.call(call)
        if outcome.status != "returned":
            raise Unmeasurable(f"{self.filename}: {_told(outcome, arguments)}")
        return outcome


def _specs(like: Sequence[Tensor]) -> list[OutputSpec]:
    return [OutputSpec(tuple(one.shape), (_name(one.dtype),)) for one in like]


def _name(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")


def _told(outcome: Outcome, arguments: Sequence[Tensor | int]) -> str:
    if outcome.status == "exception":
        shapes = ", ".join(
            str(tuple(one.shape)) if isinstance(one, Tensor) else str(one) for one in arguments
        )
        error = clean(outcome.error, 300).rstrip(".")
        return say("exception", error=error, line=outcome.line, arguments=shapes)
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
