"""Slow paths: shapes at which a kernel falls back to something much slower than elsewhere.

Some twenty calls of nearly the same work differ in one thing each: a head width, an odd length, a
sharing ratio, the mask, strides. Each is made in turn by the submission and by torch's own fused
operations, in processes of their own; the ratio of their processor times, read from outside, is
compared with that of the other shapes in the same round. What is not certain is told as such, and a
slow path fails nobody.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from typing import Any

from grader.feedback.words import say
from grader.isolation.calls import Call, Outcome
from grader.judging.answers import request
from grader.judging.cases import sized
from grader.judging.speed import BETWEEN, LEAST, NO_WORK, SHORTEST, Others, credible
from grader.judging.trial import Worker, WorkerFactory
from grader.report import Path, Paths

SLOW = 3.0
"""Times the others' ratio from which a path is slow. Right kernels of many styles stay within 2.0,
loops over rows or tokens in Python are 6 to 20 times as slow."""

FEWEST, MOST = 3, 15
"""Rounds after which it is over where no shape comes near SLOW, and after which one stays
undecided. None is called slow by fewer than LEAST, which must all say the same."""

NEAR = 2.4

PATIENCE, LONGER = 6.0, 15.0
"""Seconds for all rounds, and where a shape stands out; a slow submission gets fewer."""

UNNOTICED = 0.1
"""Seconds between all calls that are no work of the submission's, whatever they are."""

FUSED, YOURS, NOTHING = "fused", "yours", "nothing"


class Finder:
    """Looks for the slow paths of one submission whose values are right."""

    dtype = "float32"
    patience, longer = PATIENCE, LONGER

    def __init__(
        self, question: Mapping[str, Any], seed: int, worker_factory: WorkerFactory, others: Others
    ) -> None:
        self.question = question
        self.asked = question["paths"]
        self.seed = seed
        self.idle = self.computed = 0.0  # its processor time outside our calls, and in them
        self.stopped = ""  # the shape at which a call ended its process
        self.factories = {
            YOURS: worker_factory,
            FUSED: others(question["speed"]["fused"]),
            NOTHING: others(NO_WORK),
        }

    def run(self) -> Paths | None:
        """Rounds until every shape is decided, or there were enough. None: nothing can be read."""
        calls = {shape["title"]: self._call(shape) for shape in self.asked["shapes"]}
        rounds: list[list[float | None]] = []
        with ExitStack() as stack:
            workers = {name: stack.enter_context(make()) for name, make in self.factories.items()}
            if any(worker.load().status != "returned" for worker in workers.values()):
                return None
            began = time.monotonic()
            deadline = began + self.patience
            for n in range(MOST + 1):
                measured = self._round(workers, calls, deadline)
                if self.stopped:
                    return Paths(unreliable=say("kernel", what="path", title=self.stopped))
                if len(measured) < len(calls):  # too late
                    break
                if n:  # a first call brings along what is not its work
                    rounds.append(measured)
                found = judged(calls, rounds)
                if _clear(found, n):
                    break
                if any(path.times[0] >= NEAR for path in found):
                    deadline = began + self.longer
        if not self.computed:
            return None
        if self.idle > max(BETWEEN * self.computed, UNNOTICED):
            return Paths(unreliable=say("kernel", what="between", seconds=f"{self.idle:.2g}"))
        found = judged(calls, rounds)
        if len(rounds) < LEAST and not _clear(found, len(rounds)):
            return Paths(
                unreliable=say("kernel", what="few-paths", seconds=f"{deadline - began:g}")
            )
        told = {path.title for path in found}
        return Paths(found, len(rounds), tuple(title for title in calls if title not in told))

    def _round(
        self, workers: Mapping[str, Worker], calls: Mapping[str, Call], deadline: float
    ) -> list[float | None]:
        """The ratio at each shape, None where the submission raised; fewer where time is up."""
        ratios: list[float | None] = []
        for title, call in calls.items():
            if time.monotonic() > deadline:
                break
            got = {name: worker.call(call) for name, worker in workers.items()}
            yours, fused = got[YOURS], got[FUSED]
            if yours.status not in ("returned", "exception"):
                self.stopped = title
                break
            ratios.append(self.ratio(got))
            self.account(yours, fused)
        return ratios

    def account(self, yours: Outcome, fused: Outcome) -> None:
        """Add up what is no work of a call."""
        if yours.usage is not None and fused.usage is not None:
            self.idle += yours.usage.between - fused.usage.between
            self.computed += yours.usage.cpu_seconds

    def ratio(self, got: Mapping[str, Outcome]) -> float | None:
        """Processor times without what it costs to hand the arguments over; None where one
        failed."""
        cpu = {}
        for name, outcome in got.items():
            if outcome.status != "returned" or outcome.usage is None:
                return None
            cpu[name] = outcome.usage.cpu_seconds
        handing = cpu.pop(NOTHING)
        yours, fused = (max(cpu[name] - handing, SHORTEST) for name in (YOURS, FUSED))
        return yours / fused

    def _call(self, shape: Mapping[str, Any]) -> Call:
        """The same values each time: whoever remembers them is as fast at every shape."""
        sizes = {**self.asked["sizes"], **shape["sizes"]}
        inputs = {**self.asked["inputs"], **shape["inputs"]}
        id_ = f"path/{shape['title']}"
        case = sized(self.question, self.seed, id_, sizes, self.dtype, inputs)
        asked = replace(request(case), seconds=self.patience, strided=shape["strided"])
        return replace(asked, measure="time")


def judged(titles: Iterable[str], rounds: Sequence[Sequence[float | None]]) -> tuple[Path, ...]:
    """The shapes that returned every time, each against the median of all in the same round."""
    relative: dict[str, list[float]] = {title: [] for title in titles}
    for ratios in rounds:
        usual = statistics.median([ratio for ratio in ratios if ratio is not None] or [1.0])
        for title, ratio in zip(relative, ratios, strict=True):
            if ratio is not None:
                relative[title].append(ratio / usual)
    found = []
    for title, values in relative.items():
        if len(values) == len(rounds) > 0:
            times = credible(values)
            slow = True if times[1] >= SLOW else False if times[0] < SLOW else None
            found.append(Path(title, times, slow))
    return tuple(found)


def _clear(found: Sequence[Path], rounds: int) -> bool:
    """Whether no more rounds are needed."""
    if rounds < LEAST:
        return rounds >= FEWEST and all(path.times[0] < NEAR for path in found)
    return all(path.slow is not None for path in found)
