"""Speed and slow paths on a device: the CPU's, with another clock and another truth.

The rounds, the control, the rungs and what is credible are those of `speed` and `paths`. A time is
what `device_clock` makes of the two clocks. Every timed result is compared with that of torch's own
fused attention for the same fresh values, computed by a process of ours on the same device: at
these sizes the judge's CPU would take minutes a round.
"""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor

from grader.isolation.calls import Call, Outcome, OutputSpec, Taken
from grader.judging import device_clock
from grader.judging.answers import given
from grader.judging.cases import BuiltCase
from grader.judging.paths import Finder
from grader.judging.speed import FUSED, NOTHING, YOURS, Race, Racer
from grader.judging.trial import WorkerFactory

PATIENCE = 120.0
"""Seconds for all rounds: tens of megabytes go to each process, and come back."""

COPIED = "reference.kernels.naive.copied"
COPIED_ELEMENTS = 1 << 24  # of float32; a cache that holds some makes the floor lower, no higher
COPIES = 3

AFTER = 1.25
"""Times what torch's own takes from the end of its work to its answer: what is beyond is work that
was done after its end was told."""


def taken(outcome: Outcome) -> Taken:
    """What a measured call took; nothing where it was not told."""
    return outcome.taken or Taken()


def late(outcome: Outcome, fused: Outcome) -> float:
    """Seconds of work after the sign that all work is done."""
    return max(0.0, taken(outcome).after - AFTER * taken(fused).after)


def bandwidth(factory: WorkerFactory) -> float:
    """Bytes a second that the device reads and writes, as `COPIED` does; 0 where it fails."""
    x = torch.zeros(COPIED_ELEMENTS)
    call = Call([x], outputs=[OutputSpec(tuple(x.shape), ("float32",))], measure="time")
    with factory() as worker:
        if worker.load().status != "returned":
            return 0.0
        outcomes = [worker.call(call) for _ in range(COPIES)]
    least = min((taken(o).seconds for o in outcomes if o.status == "returned"), default=0.0)
    return 2 * x.nbytes / least if least > 0 else 0.0


class DeviceRacer(Racer):
    """Measures one submission on a device."""

    patience = PATIENCE
    copied: WorkerFactory | None = None

    def prepare(self, race: Race) -> None:
        if self.copied is not None:
            read = sum(v.nbytes for v in self._case(0).values.values() if isinstance(v, Tensor))
            race.floor = self.asked["read"] * device_clock.floor(read, bandwidth(self.copied))

    def told(self, outcome: Outcome) -> bool:
        return outcome.taken is not None

    def note(self, race: Race, outcomes: Mapping[str, Outcome]) -> None:
        nothing = taken(outcomes[NOTHING])
        for name, outcome in outcomes.items():
            if name == NOTHING:
                continue
            race.cpu[name].append(device_clock.seconds(taken(outcome), nothing))
            race.between[name] = race.between.get(name, 0.0) + late(outcome, outcomes[FUSED])
        yours = taken(outcomes[YOURS])
        race.apart += not device_clock.agree(yours, nothing)
        race.wall.append(max(0.0, yours.wall - nothing.wall))

    def expected(
        self, case: BuiltCase, outcomes: Mapping[str, Outcome], dtype: torch.dtype
    ) -> list[Tensor]:
        del dtype
        got = given(case, outcomes[FUSED])
        if got is None:
            raise ValueError("torch's own fused function gave another shape than the question says")
        return [value.double() for value in got.values()]


class DeviceFinder(Finder):
    """Looks for the slow paths of one submission on a device."""

    patience, longer = 60.0, 90.0

    def account(self, yours: Outcome, fused: Outcome) -> None:
        if yours.taken is not None and fused.taken is not None:
            self.idle += late(yours, fused)
            self.computed += yours.taken.seconds

    def ratio(self, got: Mapping[str, Outcome]) -> float | None:
        if any(outcome.status != "returned" or outcome.taken is None for outcome in got.values()):
            return None
        nothing = taken(got[NOTHING])
        yours, fused = (device_clock.seconds(taken(got[n]), nothing) for n in (YOURS, FUSED))
        return yours / fused
