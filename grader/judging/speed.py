"""How fast a kernel is on the CPU: a ratio of processor times, read from outside its process.

The submission, naive attention (twice: the control) and torch's fused attention run in processes of
their own, on one thread each, and are called in turn with fresh values; every output is checked.
What a function costs that does nothing with the same arguments is taken off each. A rung of the
ladder counts as reached only where all that is credible of the ratio lies beyond it, so that a busy
machine makes a tier undecided, not another one. No clock of the submission's plays a part, its
threads are charged to it, and one that computes while others are measured is found out.
"""

from __future__ import annotations

import math
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from typing import Any

import torch
from torch import Tensor

from grader.feedback.words import say
from grader.isolation.calls import Outcome
from grader.judging import tolerance
from grader.judging.answers import Answer, differences, given, request
from grader.judging.cases import DTYPES, BuiltCase, sized
from grader.judging.functions import invoke, resolve
from grader.judging.oracle import Oracle, Truth
from grader.judging.trial import Worker, WorkerFactory
from grader.report import Rung, Speed

Others = Callable[[str], WorkerFactory]
"""Makes workers for a function of `reference`, by its dotted name, as for a submission."""

FEWEST, MOST = 11, 81
"""Rounds before a tier is looked for, and after which it stays undecided."""

LEAST = 7
"""Rounds below which nothing is credible: all of them lie on one side of the median once in 64."""

PATIENCE = 20.0
"""Seconds for all rounds; a slow submission gets fewer."""

GUARD = 0.05
"""A rung counts as reached, or as missed, where the ratio is beyond it by this much."""

CONTROL = 0.15
"""By how much two measurements of the same code may differ."""

CREDIBLE = 2.6
"""Standard errors on each side: one median in a hundred lies outside."""

COARSE = 16.0
"""Rounding errors times sqrt(reduction) that timed values may be off: the cases judge accuracy."""

BETWEEN = 0.25
"""Of the time of naive attention that a submission may compute between its calls, beyond what our
own harness does there: one that spins while the others are measured takes all of it."""

SHORTEST = 1e-4  # seconds: below, the clock's own grain shows

NAIVE, CONTROLLED, FUSED, YOURS, NOTHING = "naive", "control", "fused", "yours", "nothing"
NO_WORK = "reference.kernels.naive.nothing"


@dataclass
class Race:
    """One measurement. `wrong` is the first answer that came out wrong while it was timed."""

    speed: Speed | None = None
    wrong: Answer | None = None
    cpu: dict[str, list[float]] = field(default_factory=dict)
    wall: list[float] = field(default_factory=list)
    between: dict[str, float] = field(default_factory=dict)  # processor time outside the calls
    patience: float = PATIENCE
    apart: int = 0  # rounds in which the two clocks of a device did not agree
    floor: float = 0.0  # seconds below which no kernel can be


class Racer:
    """Measures one submission whose values are right."""

    patience = PATIENCE

    def __init__(
        self,
        question: Mapping[str, Any],
        oracle: Oracle,
        seed: int,
        worker_factory: WorkerFactory,
        others: Others,
    ) -> None:
        self.question = question
        self.asked = question["speed"]
        self.oracle = oracle
        self.seed = seed
        self.factories = {
            NAIVE: others(self.asked["naive"]),
            CONTROLLED: others(self.asked["naive"]),
            FUSED: others(self.asked["fused"]),
            YOURS: worker_factory,
            NOTHING: others(NO_WORK),
        }
        self.fused = resolve(self.asked["fused"])

    def run(self) -> Race:
        """Rounds until a tier is certain, or there were enough of them."""
        race = Race(
            cpu={name: [] for name in self.factories if name != NOTHING}, patience=self.patience
        )
        began = time.monotonic()
        with ExitStack() as stack:
            workers = {name: stack.enter_context(make()) for name, make in self.factories.items()}
            if any(worker.load().status != "returned" for worker in workers.values()):
                return race
            self.prepare(race)
            for n in range(MOST + 1):
                if not self._round(race, workers, n) or race.wrong is not None:
                    return race
                rounds = len(race.wall)
                late = time.monotonic() - began > self.patience
                if rounds >= FEWEST or (late and rounds):
                    race.speed = judged(self.asked["tiers"], race)
                    if race.speed.tier or late:
                        break
        return race

    def _round(self, race: Race, workers: Mapping[str, Worker], n: int) -> bool:
        """Call each once, the first time unrecorded. False: a call ended the race."""
        case = self._case(n)
        names = list(workers)
        first = n % len(names)
        outcomes: dict[str, Outcome] = {}
        for name in names[first:] + names[:first]:
            asked = replace(request(case), seconds=self.question["seconds"], measure="time")
            outcome = workers[name].call(asked)
            if outcome.status != "returned" or not self.told(outcome):
                if name == YOURS and outcome.status != "returned":
                    race.wrong = Answer(case, outcome, None, ())
                return False
            outcomes[name] = outcome
        answer = self.answer(case, outcomes)
        if not answer.values_right:
            race.wrong = answer
            return False
        if n:
            self.note(race, outcomes)
        return True

    def prepare(self, race: Race) -> None:
        """What is measured before the rounds."""

    def told(self, outcome: Outcome) -> bool:
        """Whether the system tells what the call used."""
        return outcome.usage is not None

    def note(self, race: Race, outcomes: Mapping[str, Outcome]) -> None:
        """Keep what one round took."""
        used = {name: outcome.usage for name, outcome in outcomes.items() if outcome.usage}
        handing = max(used[NOTHING].cpu_seconds, SHORTEST)  # the arguments over
        for name, usage in used.items():
            if name != NOTHING:
                spent = max(usage.cpu_seconds, SHORTEST)
                race.cpu[name].append(max(spent - handing, SHORTEST))
            race.between[name] = race.between.get(name, 0.0) + usage.between
        race.wall.append(outcomes[YOURS].seconds)

    def _case(self, n: int) -> BuiltCase:
        asked = self.asked
        id_ = f"speed/{n}"
        return sized(self.question, self.seed, id_, asked["sizes"], asked["dtype"], asked["inputs"])

    def answer(self, case: BuiltCase, outcomes: Mapping[str, Outcome]) -> Answer:
        """Compared with torch's fused attention, coarsely, for the sake of time."""
        outcome = outcomes[YOURS]
        got = given(case, outcome)
        if got is None:
            return Answer(case, outcome, None, ())
        dtype = tolerance.graded_dtype(DTYPES[case.dtype])
        expected = self.expected(case, outcomes, dtype)
        unit = COARSE * torch.finfo(dtype).eps * math.sqrt(self.oracle.reduction(case))
        named = dict(zip(case.outputs, expected, strict=True))
        allowed = {
            name: torch.full(value.shape, unit * float(value.abs().max()), dtype=torch.float64)
            for name, value in named.items()
        }
        return Answer(case, outcome, got, differences(got, Truth(named, allowed)))

    def expected(
        self, case: BuiltCase, outcomes: Mapping[str, Outcome], dtype: torch.dtype
    ) -> list[Tensor]:
        """What torch's own gives for the case, computed by the judge."""
        del outcomes
        return invoke(self.fused, case, dtype, self.oracle.framework)


def judged(tiers: Sequence[Mapping[str, Any]], race: Race) -> Speed:
    """The tier, as far as it is certain."""
    naive = credible(_ratios(race.cpu[NAIVE], race.cpu[YOURS]))
    fused = credible(_ratios(race.cpu[YOURS], race.cpu[FUSED]))
    control = credible(_ratios(race.cpu[CONTROLLED], race.cpu[NAIVE]))
    unreliable = ""
    busy = race.between.get(YOURS, 0.0) - race.between.get(NAIVE, 0.0)
    if busy > BETWEEN * sum(race.cpu[NAIVE]):
        unreliable = say("kernel", what="between", seconds=f"{busy:.2g}")
    elif len(race.wall) < LEAST:
        unreliable = say("kernel", what="few", rounds=len(race.wall), seconds=f"{race.patience:g}")
    elif abs(control[0] - 1) > CONTROL or (control[2] - control[1]) / 2 > CONTROL:
        unreliable = say("kernel", what="unreliable", control=[f"{value:.2f}" for value in control])
    elif 3 * race.apart > len(race.wall):
        unreliable = say("kernel", what="clocks", rounds=race.apart, total=len(race.wall))
    elif statistics.median(race.cpu[YOURS]) < race.floor:
        took = f"{1e6 * statistics.median(race.cpu[YOURS]):.0f}"
        unreliable = say("kernel", what="roofline", took=took, floor=f"{1e6 * race.floor:.0f}")
    speed = Speed(
        naive,
        fused,
        control,
        rounds=len(race.wall),
        cpu_seconds=statistics.median(race.cpu[YOURS]),
        seconds=statistics.median(race.wall),
        unreliable=unreliable,
    )
    if unreliable:
        return speed
    ladder = tuple(Rung(tier["name"], _reached(tier, naive, fused)) for tier in tiers)
    speed = replace(speed, ladder=ladder)
    # Up to the first that is not reached: where naive code is fast, rungs may change places.
    height = next((n for n, rung in enumerate(ladder) if not rung.reached), len(ladder))
    above = ladder[height:]
    if above and above[0].reached is None:
        return speed
    below = say("kernel", what="below", first=ladder[0].name)
    tier = ladder[height - 1].name if height else below
    return replace(speed, tier=tier, next=above[0].name if above else "")


def _reached(
    tier: Mapping[str, Any], naive: tuple[float, ...], fused: tuple[float, ...]
) -> bool | None:
    """Whether a rung is; None where what is credible lies on both sides of it."""
    if tier["times_naive"] is not None:
        bound, low, high = tier["times_naive"], naive[1], naive[2]
    else:  # within so many times of the fused one: its inverse is to be large
        bound, low, high = 1 / tier["within_fused"], 1 / fused[2], 1 / fused[1]
    if low >= bound * (1 + GUARD):
        return True
    return False if high <= bound * (1 - GUARD) else None


def credible(values: Sequence[float]) -> tuple[float, float, float]:
    """The median, and the order statistics between which it lies 99 times in a hundred.

    Source: the sign test's interval for a median, e.g. Conover, Practical Nonparametric Statistics,
    section 3.2.
    """
    ordered = sorted(values)
    n = len(ordered)
    reach = CREDIBLE * math.sqrt(n) / 2
    low = max(0, math.floor(n / 2 - reach))
    high = min(n - 1, math.ceil(n / 2 + reach) - 1)
    return statistics.median(ordered), ordered[low], ordered[high]


def _ratios(above: Sequence[float], below: Sequence[float]) -> list[float]:
    """Round by round: what slows one round down slows all that run in it."""
    return [a / b for a, b in zip(above, below, strict=True)]
