"""The stages of a kernel's grade after its cases, each with its own checks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from grader.feedback.words import say
from grader.judging.answers import Answer
from grader.judging.checks import Checks
from grader.judging.kernels import (
    Kernel,
    growth_check,
    launch_check,
    other_devices,
    strided_note,
    support_checks,
    support_skipped,
)
from grader.judging.oracle import Oracle
from grader.judging.paths import Finder
from grader.judging.speed import Others, Race, Racer
from grader.judging.trial import Trial, Worker, WorkerFactory
from grader.judging.verdicts import of_outcome
from grader.report import Check, Device, Growth, Paths, Speed

SPEED = "values where speed is measured"


class Stages:
    """What follows the cases: the support matrix and strides, then growth, speed and slow
    paths; the last two not where the question's `speed` is None, nor paths where `paths` is."""

    asks_shapes = False  # on another device than the CPU

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
        self.finder: Finder | None = None
        if others is not None and device == "cpu" and question["speed"]:
            self.racer = Racer(question, oracle, seed, worker_factory, others)
            if question["paths"]:
                self.finder = Finder(question, seed, worker_factory, others)
        self._asked_support = False
        self._strided: list[Answer] = []
        self._race = Race()
        self.growth: tuple[Growth, ...] = ()
        self.operations: tuple[int, int] | None = None
        self.paths: Paths | None = None

    def shapes(self, worker: Worker, trial: Trial) -> None:
        """Call the support matrix, in the process that answered the cases, where they are right."""
        asks = self.device == "cpu" or self.asks_shapes
        if not asks or trial.stopped or not _right(trial):
            return
        self._asked_support = True
        self.kernel.support(worker, trial)
        if not trial.stopped and _right(trial):
            self._strided = self.kernel.strided(worker)

    def shape_checks(self, trial: Trial) -> list[Check]:
        """Of the matrix; or whether anything was interpreted."""
        if self.device == "interpret":
            return [launch_check(trial)]
        if not self._asked_support:
            return support_skipped(self.question)
        return support_checks(self.question, trial)

    def cost_checks(self, right: bool) -> list[Check]:
        """Of growth and of the timed values, where all before is `right`; then of other devices."""
        found = other_devices(self.device)
        if self.device != "cpu":
            return found
        if not right:
            skipped = say("skipped", reason="before")
            return [Check("growth", "skipped", skipped, "memory against the length"), *found]
        self.growth, self.operations = self.kernel.growth()
        grown = growth_check(self.question, self.growth)
        ended = self.kernel.ended
        if ended is not None and not ended.returned:
            grown = self.stopped("growth", ended, grown.title)
        return [grown, *(self._raced() if grown.verdict == "passed" else ()), *found]

    def _raced(self) -> list[Check]:
        """Speed, and the slow paths where the timed values are right."""
        if self.racer is None:
            return []
        self._race = self.racer.run()
        timed = self._timed_values()
        if self.finder is not None and timed.verdict == "passed":
            self.paths = self.finder.run()
        return [timed]

    def stopped(self, id_: str, ended: Answer, title: str) -> Check:
        """A check of a stage in which a call did not return."""
        told = Checks(self.question, (), Trial(ended.outcome)).stop(ended)
        return Check(id_, of_outcome(ended.outcome), told, title)

    def _timed_values(self) -> Check:
        wrong = self._race.wrong
        if wrong is None:
            return Check("timed-values", "passed", title=SPEED)
        if not wrong.returned:
            return self.stopped("timed-values", wrong, SPEED)
        return Check("timed-values", "wrong_answer", say("kernel", what="timed-values"), SPEED)

    @property
    def speed(self) -> Speed | None:
        """As it was measured; None where it was not."""
        return self._race.speed

    def notes(self) -> tuple[str, ...]:
        """What is told and held against nobody."""
        strided = strided_note(self._strided)
        return (strided,) if strided else ()


def _right(trial: Trial) -> bool:
    return all(answer.values_right for answer in trial.answers.values())
