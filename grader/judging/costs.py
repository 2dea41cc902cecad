"""What a call costs: counted in the worker at two sizes, and read from outside its process.

The counts explain: they know the tensor and the line. They can be dodged (NumPy, other threads, a
dispatch mode that is switched off), and then only fall short. Work that a mode misses is counted by
torch's own record of operations, unless these are thousands: beside what is hidden, other work can
be shown. What the system says of the process sees the rest: its memory always, its processor time
where the counts leave a doubt. But it is noisy, so its margins are wide, and a suspected excess
must show three times, unless it is large, each in a fresh process with fresh values.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

import torch

from grader.isolation.calls import Counts, Outcome
from grader.isolation.child import counting
from grader.judging import tolerance
from grader.judging.answers import Answer, differences, request
from grader.judging.cases import DTYPES, BuiltCase, sized
from grader.judging.cost_bounds import (
    Excess,
    affordable,
    busy,
    bytes_of,
    counted_excess,
    entries_of,
    outside_excess,
)
from grader.judging.functions import invoke, invoke_with
from grader.judging.oracle import Oracle, Truth, nudged
from grader.judging.trial import Timed, Worker, WorkerFactory
from grader.judging.verdicts import ENDS

Measure = Literal["", "time", "memory"]
Pair = tuple[BuiltCase, Counts, Counts]  # the larger case; what the smaller and the larger call did

COARSE = 64.0
"""Rounding errors times sqrt(reduction) that values may be off here: accuracy is judged by the
cases, this only sees an answer that does another thing at another size."""

ATTEMPTS, CONFIRMED = 3, 2
"""Readings from outside before an excess counts, and before one that is far over the bound does."""

SEEN = 0.25
"""Of the reference's work: an answer whose counts show this much, and that did not go to NumPy,
hides none that matters."""

HIDDEN = 1.25
"""Times the work that was counted: what is recorded beyond is work that was hidden."""

MANY = 8_000
"""Operations of a call: to record that many takes a right answer a third of a second."""

UNSEEN = 2
"""Times the entries of the arguments: less work than that is no more than their way to NumPy."""

_usual: dict[tuple[Any, ...], int] = {}  # work of the reference


@dataclass
class Weighed:
    """One cost. `outcome` is of the call on which it ended; `counts` of the larger counted call."""

    cost: Mapping[str, Any]
    excess: Excess | None = None
    wrong: Answer | None = None
    outcome: Outcome | None = None
    case: BuiltCase | None = None
    counts: Counts | None = None
    larger: BuiltCase | None = None  # the case of that call
    hidden: bool = False  # whether torch's own record shows work that was not counted
    reached: bool = False

    @property
    def settled(self) -> bool:
        """Whether nothing more is to be learned of it."""
        return bool(self.excess or self.wrong or self.outcome)

    @property
    def doubles(self) -> bool:
        """Whether it computes in float64 what came in another dtype."""
        if self.larger is None or self.counts is None or self.counts.tensor is None:
            return False
        return self.counts.tensor.dtype == "float64" != self.larger.dtype


class Scales:
    """Weighs one submission whose values are right."""

    def __init__(
        self, question: Mapping[str, Any], oracle: Oracle, seed: int, worker_factory: WorkerFactory
    ) -> None:
        self.question = question
        self.oracle = oracle
        self.seed = seed
        self.worker_factory = worker_factory

    def all(self) -> list[Weighed]:
        """Each cost in turn; those after a call that ended the run are not reached."""
        found = [Weighed(cost) for cost in self.question["costs"]]
        with self.worker_factory() as worker:
            loaded = worker.load()
            for weighed in found:
                weighed.reached = True
                if loaded.status != "returned":
                    weighed.outcome = loaded
                    break
                self._count(weighed, Timed(worker, self.question["seconds"]))
                if self._is_confirmed(weighed) and weighed.cost["measure"] == "work":
                    self._record(weighed, Timed(worker, self.question["seconds"]))
                if self._is_doubtful(weighed):
                    self._look(weighed, Timed(worker, self.question["seconds"]))
                if weighed.outcome is not None and weighed.outcome.status in ENDS:
                    break
        return found

    def _count(self, weighed: Weighed, worker: Worker) -> None:
        cost, again = weighed.cost, weighed.cost["again"]
        pair = self._pair(weighed, worker, cost)
        if pair is None:
            return
        case, _, large = pair
        weighed.larger, weighed.counts = case, large
        weighed.excess = self._excess(cost, *pair)
        if weighed.settled or again is None:
            return
        if self._excess({**cost, "at_most": again["above"]}, *pair):
            sharper = {**cost, **again}
            pair = self._pair(weighed, worker, sharper)
            if pair is not None:
                weighed.excess = self._excess(sharper, *pair)

    def _pair(self, weighed: Weighed, worker: Worker, cost: Mapping[str, Any]) -> Pair | None:
        """Count a call and a larger one. None where one did not return, or gave other values;
        `weighed` then says so."""
        sizes, grow = cost["sizes"], cost["grow"]
        case = self._draw(cost, sizes, "counted")
        small = large = self._call(weighed, worker, case, "time", count=True)
        if small is None or large is None:
            return None
        most = float(cost["at_most"]) if grow and cost["measure"] == "work" else math.inf
        larger = affordable(sizes, grow, busy(small), most)
        if larger != sizes:
            case = self._draw(cost, larger, "counted")
            large = self._call(weighed, worker, case, "time", count=True)
            if large is None:
                return None
        self._compare(weighed, case, large)
        if weighed.wrong is not None or small.counts is None or large.counts is None:
            return None
        return case, small.counts, large.counts

    def _excess(
        self, cost: Mapping[str, Any], case: BuiltCase, small: Counts, large: Counts
    ) -> Excess | None:
        if cost["measure"] == "work" and large.work <= UNSEEN * entries_of(case):
            return None
        return counted_excess(cost, case.sizes, small, large)

    def _is_confirmed(self, weighed: Weighed) -> bool:
        """Whether what was counted can be confirmed in another way."""
        cost = weighed.cost
        return not weighed.settled and cost["outside"] is not None and cost["required"]

    def _is_doubtful(self, weighed: Weighed) -> bool:
        """Whether what was counted is to be confirmed from outside."""
        cost, counts, case = weighed.cost, weighed.counts, weighed.larger
        if not self._is_confirmed(weighed):
            return False
        # Work that hides nothing can be shown beside what is hidden; memory is seen as a whole.
        if cost["outside"]["bytes"] is not None or weighed.hidden:
            return True
        if case is None or counts is None or counts.unseen:
            return True
        # Without growth the bound is on what is computed: a list of numbers is mostly a copy.
        if counts.by_hand and cost["grow"]:
            return True
        return counts.work <= SEEN * self._usual_work(cost, case)

    def _usual_work(self, cost: Mapping[str, Any], case: BuiltCase) -> int:
        """The reference's, in the same call. It hangs on the sizes alone: once will do."""
        key = (self.oracle.reference, cost["id"], *case.sizes.items())
        if key not in _usual:
            dtype = tolerance.graded_dtype(DTYPES[case.dtype])
            arguments = [self.oracle.reference, case, dtype, self.oracle.framework]
            _usual[key] = counting.counted(invoke, arguments, {}, "")[1].work
        return _usual[key]

    def _record(self, weighed: Weighed, worker: Worker) -> None:
        """Count the work once more, in a way that a mode which is switched off does not escape."""
        cost, counted, larger = weighed.cost, weighed.counts, weighed.larger
        if counted is None or larger is None:
            return
        if counted.operations > MANY and counted.work > SEEN * self._usual_work(cost, larger):
            return
        case = self._draw(cost, larger.sizes, "recorded")
        large = self._call(weighed, worker, case, count=True, recorded=True)
        if large is None or large.counts is None or large.counts.work <= HIDDEN * counted.work:
            return
        weighed.hidden = True
        case = self._draw(cost, cost["sizes"], "recorded")
        small = self._call(weighed, worker, case, count=True, recorded=True)
        if small is None or small.counts is None:
            return
        weighed.counts = replace(counted, work=large.counts.work)
        weighed.excess = self._excess(cost, larger, small.counts, large.counts)

    def _look(self, weighed: Weighed, worker: Worker) -> None:
        """From outside: the first reading in the process at hand, the others in fresh ones."""
        mildest = self._reading(weighed, worker, 0)
        attempt = 1
        # Even a clear one is confirmed: on a busy machine one reading in hundreds is far off.
        while mildest is not None and attempt < (CONFIRMED if mildest.clear else ATTEMPTS):
            with self.worker_factory() as fresh:
                loaded = fresh.load()
                if loaded.status != "returned":
                    weighed.outcome = loaded  # it did before: what hangs on that is no answer
                    return
                timed = Timed(fresh, self.question["seconds"])
                again = self._reading(weighed, timed, attempt)
            if again is None:
                return
            mildest = min(mildest, again, key=lambda excess: excess.times_over)
            attempt += 1
        if not weighed.settled:
            weighed.excess = mildest

    def _reading(self, weighed: Weighed, worker: Worker, attempt: int) -> Excess | None:
        cost, outside = weighed.cost, weighed.cost["outside"]
        sizes, grow = outside["sizes"], outside["grow"]
        measure: Measure = "memory" if outside["bytes"] is not None else "time"
        warm = self._call(weighed, worker, self._draw(cost, sizes, f"warm-{attempt}"), measure)
        if warm is None:
            return None
        larger = affordable(sizes, grow, busy(warm), outside["time"] or math.inf)
        small: Outcome | None = warm
        if outside["time"] is not None:
            again = self._draw(cost, sizes, f"small-{attempt}")
            small = self._call(weighed, worker, again, measure)
        grown = self._draw(cost, larger, f"large-{attempt}")
        large = self._call(weighed, worker, grown, measure)
        if small is None or large is None:
            return None
        if attempt == 0:
            self._compare(weighed, grown, large)
        if weighed.settled or large.usage is None:
            return None
        if weighed.doubles and outside["bytes_in_float64"] is not None:
            outside = {**outside, "bytes": outside["bytes_in_float64"]}
        return outside_excess(outside, larger, small.usage, large.usage, bytes_of(grown))

    def _call(
        self,
        weighed: Weighed,
        worker: Worker,
        case: BuiltCase,
        measure: Measure = "",
        count: bool = False,
        recorded: bool = False,
    ) -> Outcome | None:
        """None where the call did not return; `weighed` then says so."""
        plain = request(case)
        outcome = worker.call(replace(plain, count=count, recorded=recorded, measure=measure))
        if outcome.status != "returned":
            weighed.outcome, weighed.case = outcome, case
            return None
        return outcome

    def _draw(self, cost: Mapping[str, Any], sizes: Mapping[str, int], use: str) -> BuiltCase:
        """Values of its own for every call: what is kept from one is of no use in another."""
        name = ",".join(f"{symbol}={size}" for symbol, size in sizes.items())
        id_ = f"{cost['id']}/{use}/{name}"
        case = sized(
            self.question, self.seed, id_, sizes, cost["dtype"], cost["inputs"], cost["outputs"]
        )
        return replace(case, title=cost["title"])

    def _compare(self, weighed: Weighed, case: BuiltCase, outcome: Outcome) -> None:
        """A submission could look at the size, and do something else.

        Coarse: the reference in the graded dtype, for the sake of time.
        """
        dtype = tolerance.graded_dtype(DTYPES[case.dtype])
        framework = self.oracle.framework
        expected = invoke(self.oracle.reference, case, dtype, framework)
        unit = COARSE * torch.finfo(dtype).eps * math.sqrt(self.oracle.reduction(case))
        allowed = [
            torch.full(value.shape, unit * float(value.abs().max()) if value.numel() else 0.0)
            for value in expected
        ]
        names = list(case.outputs)
        truth = Truth(
            dict(zip(names, expected, strict=True)), dict(zip(names, allowed, strict=True))
        )
        given = dict(zip(case.outputs, outcome.outputs, strict=False))
        got = {name: value for name, value in given.items() if value is not None}
        answer = Answer(case, outcome, None, ())
        if len(got) == len(case.outputs) == len(outcome.headers):
            answer = Answer(case, outcome, got, differences(got, truth))
        if not answer.values_right and not self._rounding_decides(case, expected):
            weighed.wrong = answer

    def _rounding_decides(self, case: BuiltCase, expected: list[torch.Tensor]) -> bool:
        """Whether a whole number may come out otherwise for inputs that are nearly the same."""
        if all(value.is_floating_point() for value in expected):
            return False
        dtype = tolerance.graded_dtype(DTYPES[case.dtype])
        near = {name: value.to(dtype) for name, value in nudged(case, times=COARSE).items()}
        moved = invoke_with(self.oracle.reference, case, near, self.oracle.framework)
        pairs = zip(expected, moved, strict=True)
        return not all(torch.equal(a, b) for a, b in pairs if not a.is_floating_point())
