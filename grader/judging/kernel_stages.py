"""The stages of a kernel's grade after its cases, each with its own checks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from grader.feedback.words import say
from grader.judging.checks import Checks
from grader.judging.kernels import (
    Kernel,
    Shapes,
    growth_check,
    launch_check,
    other_devices,
    support_skipped,
)
from grader.judging.oracle import Oracle
from grader.judging.speed import Others, Race, Racer
from grader.judging.trial import Trial, Worker, WorkerFactory
from grader.judging.verdicts import of_outcome
from grader.report import Check, Device, Growth, Speed

SPEED = "values where speed is measured"


class Stages:
    """What follows the cases: the support matrix and strides, then growth and speed."""

    def __init__(
        self,
        question: Mapping[str, Any],
        oracle: Oracle,
        seed: int,
        worker_factory: WorkerFactory,
        device: Device,
        others: Others | None,
    ) -> None:
        self.question = question
        self.device = device
        self.kernel = Kernel(question, oracle, seed, worker_factory)
        self.racer: Racer | None = None
        if others is not None and device == "cpu":
            self.racer = Racer(question, oracle, seed, worker_factory, others)
        self._shapes: Shapes | None = None
        self._race = Race()
        self.growth: tuple[Growth, ...] = ()
        self.operations: tuple[int, int] | None = None

    def shapes(self, worker: Worker) -> None:
        """Call the support matrix, in the process that answered the cases."""
        if self.device == "cpu":
            self._shapes = self.kernel.shapes(worker)

    def shape_checks(self, trial: Trial) -> list[Check]:
        """Of the matrix; or whether anything was interpreted."""
        if self.device == "interpret":
            return [launch_check(trial)]
        if self._shapes is None:
            return support_skipped(self.question)
        return self._shapes.checks(self.question)

    def cost_checks(self, right: bool) -> list[Check]:
        """Of growth and of the timed values, where all before is `right`; then of other devices."""
        found = other_devices(self.device)
        if self.device != "cpu":
            return found
        if not right:
            skipped = say("skipped", reason="before")
            return [Check("growth", "skipped", skipped, "memory against the length"), *found]
        self.growth, self.operations = self.kernel.growth()
        found.insert(0, growth_check(self.question, self.growth))
        if self.racer is not None and found[0].verdict == "passed":
            self._race = self.racer.run()
            found.insert(1, self._timed_values())
        return found

    def _timed_values(self) -> Check:
        wrong = self._race.wrong
        if wrong is None:
            return Check("timed-values", "passed", title=SPEED)
        if not wrong.returned:
            checks = Checks(self.question, (), Trial(wrong.outcome))
            return Check("timed-values", of_outcome(wrong.outcome), checks.stop(wrong), SPEED)
        return Check("timed-values", "wrong_answer", say("kernel", what="timed-values"), SPEED)

    @property
    def speed(self) -> Speed | None:
        """As it was measured; None where it was not."""
        return self._race.speed

    def notes(self) -> tuple[str, ...]:
        """What is told and held against nobody."""
        strided = self._shapes.note() if self._shapes is not None else ""
        return (strided,) if strided else ()
