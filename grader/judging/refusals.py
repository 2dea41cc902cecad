"""What a submission tried in vain, whenever it ran: heard at all its workers, in all stages."""

from __future__ import annotations

from grader.isolation.calls import Call, Outcome
from grader.judging.trial import Worker, WorkerFactory


class Refusals:
    """A worker factory that stands before another, and hears what its workers tell.

    `survived` are the refusals that ended no call, in their order: one that did is its verdict.
    """

    def __init__(self, factory: WorkerFactory) -> None:
        self.factory = factory
        self.survived: dict[str, None] = {}

    def __call__(self) -> Worker:
        return _Heard(self, self.factory())

    def note(self, outcome: Outcome) -> Outcome:
        if outcome.status != "denied":
            self.survived |= dict.fromkeys(outcome.denials)
        return outcome


class _Heard:
    def __init__(self, refusals: Refusals, worker: Worker) -> None:
        self.refusals = refusals
        self.worker = worker

    def __enter__(self) -> _Heard:
        self.worker.__enter__()
        return self

    def __exit__(self, *exc: object) -> None:
        self.worker.__exit__(*exc)

    def load(self) -> Outcome:
        return self.refusals.note(self.worker.load())

    def call(self, call: Call) -> Outcome:
        return self.refusals.note(self.worker.call(call))
