"""What a call costs: counted in the worker at two sizes, and read from outside its process.

The counts explain: they know the tensor and the line. They can be dodged (NumPy, other threads, a
dispatch mode that is switched off), and then only fall short. What the system says of the process,
its processor time and its memory, cannot; but it is noisy, so its margins are wide, and a suspected
excess must show three times, unless it is large, each in a fresh process with fresh values.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import torch

from grader.isolation.calls import Counts, Made, Outcome, Usage
from grader.isolation.child import counting
from grader.judging import tolerance
from grader.judging.answers import Answer, differences, request
from grader.judging.cases import DTYPES, BuiltCase, build
from grader.judging.functions import invoke, invoke_with
from grader.judging.oracle import Oracle, Truth, nudged
from grader.judging.trial import Timed, Worker, WorkerFactory
from grader.judging.verdicts import ENDS
from questions.sizes import evaluate

Measure = Literal["", "time", "memory"]

COARSE = 64.0
"""Rounding errors times sqrt(reduction) that values may be off here: accuracy is judged by the
cases, this only sees an answer that does another thing at another size."""

AFFORDABLE = 1.5
"""Seconds that a larger call may take by estimate; else the sizes are halved until it does not."""

ATTEMPTS = 3
"""Readings from outside before an excess counts."""

CLEAR = 1.8
"""Times a bound from outside above which one reading is enough."""

SHORTEST = 0.02
"""Seconds of processor time below which growth is not judged."""

LEAST = 0.002
"""What a smaller call is taken to use at least: below, start-up weighs more than the work."""

MEMORY_NOISE = 2 << 20
"""Bytes: what a library may keep at first use of a kernel, and the allocator's own."""

SEEN = 0.25
"""Of the reference's work: an answer whose counts show this much, and that did not go to NumPy,
hides none that matters."""

UNSEEN = 2
"""Times the entries of the arguments: less work than that is no more than their way to NumPy."""


@dataclass(frozen=True)
class Excess:
    """A bound that was broken; `how` is "tensor", "computed", "work", "time" or "memory"."""

    how: str
    sizes: Mapping[str, int]
    grown: Mapping[str, float] = field(default_factory=dict)  # symbol -> how many times larger
    ratio: float = 0.0
    made: Made | None = None
    line: int | None = None
    usage: tuple[Usage, Usage] | None = None
    allowed: float = 0.0

    @property
    def times_over(self) -> float:
        """How many times the bound it is."""
        return self.ratio / self.allowed

    @property
    def clear(self) -> bool:
        """Whether no noise makes that much."""
        return self.times_over > CLEAR


@dataclass
class Weighed:
    """One cost. `outcome` is of the call on which it ended; `counts` of the larger counted call."""

    cost: Mapping[str, Any]
    excess: Excess | None = None
    wrong: Answer | None = None
    outcome: Outcome | None = None
    case: BuiltCase | None = None
    counts: Counts | None = None
    usual_work: int = 0  # the reference's, in the same call
    reached: bool = False

    @property
    def settled(self) -> bool:
        """Whether nothing more is to be learned of it."""
        return bool(self.excess or self.wrong or self.outcome)


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
                if self._is_doubtful(weighed):
                    self._look(weighed, Timed(worker, self.question["seconds"]))
                if weighed.outcome is not None and weighed.outcome.status in ENDS:
                    break
        return found

    def _count(self, weighed: Weighed, worker: Worker) -> None:
        cost = weighed.cost
        sizes, grow = cost["sizes"], cost["grow"]
        case = self._draw(cost, sizes, "counted")
        small = large = self._call(weighed, worker, case, "time", count=True)
        if small is None or large is None:
            return
        most = float(cost["at_most"]) if grow and cost["measure"] == "work" else math.inf
        larger = affordable(sizes, grow, busy(small), most)
        if larger != sizes:
            case = self._draw(cost, larger, "counted")
            large = self._call(weighed, worker, case, "time", count=True)
            if large is None:
                return
        self._compare(weighed, case, large)
        weighed.counts = large.counts
        if cost["outside"] is not None:
            dtype = tolerance.graded_dtype(DTYPES[case.dtype])
            arguments = [self.oracle.reference, case, dtype, self.oracle.framework]
            weighed.usual_work = counting.counted(invoke, arguments, {}, "")[1].work
        if weighed.wrong is not None or small.counts is None or large.counts is None:
            return
        if cost["measure"] != "work" or large.counts.work > UNSEEN * entries_of(case):
            weighed.excess = counted_excess(cost, larger, small.counts, large.counts)

    def _is_doubtful(self, weighed: Weighed) -> bool:
        """Whether what was counted is to be confirmed from outside."""
        outside = weighed.cost["outside"]
        if weighed.settled or outside is None or not weighed.cost["required"]:
            return False
        if weighed.counts is None or weighed.counts.arrays:
            return True
        return weighed.counts.work <= SEEN * weighed.usual_work

    def _look(self, weighed: Weighed, worker: Worker) -> None:
        """From outside: the first reading in the process at hand, the others in fresh ones."""
        mildest = self._reading(weighed, worker, 0)
        attempt = 1
        while mildest is not None and not mildest.clear and attempt < ATTEMPTS:
            with self.worker_factory() as fresh:
                if fresh.load().status != "returned":
                    return  # it did before: whatever it hangs on, this is no reading
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
        return outside_excess(outside, larger, small.usage, large.usage, bytes_of(grown))

    def _call(
        self,
        weighed: Weighed,
        worker: Worker,
        case: BuiltCase,
        measure: Measure = "",
        count: bool = False,
    ) -> Outcome | None:
        """None where the call did not return; `weighed` then says so."""
        plain = request(case)
        outcome = worker.call(replace(plain, count=count, measure=measure))
        if outcome.status != "returned":
            weighed.outcome, weighed.case = outcome, case
            return None
        return outcome

    def _draw(self, cost: Mapping[str, Any], sizes: Mapping[str, int], use: str) -> BuiltCase:
        """Values of its own for every call: what is kept from one is of no use in another."""
        name = ",".join(f"{symbol}={size}" for symbol, size in sizes.items())
        declared = {
            "id": f"{cost['id']}/{use}/{name}",
            "title": cost["title"],
            "sizes": dict(sizes),
            "inputs": cost["inputs"],
            "outputs": cost["outputs"],
            "omit": (),
            "by_keyword": (),
            "gradients": False,
            "clear_leader": False,
        }
        return build(self.question, declared, cost["dtype"], self.seed)

    def _compare(self, weighed: Weighed, case: BuiltCase, outcome: Outcome) -> None:
        """A submission could look at the size, and do something else.

        Coarse: the reference in the graded dtype, for the sake of time.
        """
        dtype = tolerance.graded_dtype(DTYPES[case.dtype])
        framework = self.oracle.framework
        expected = invoke(self.oracle.reference, case, dtype, framework)
        if not all(value.is_floating_point() for value in expected):
            near = {name: v.to(dtype) for name, v in nudged(case, times=COARSE).items()}
            moved = invoke_with(self.oracle.reference, case, near, framework)
            pairs = zip(expected, moved, strict=True)
            if not all(torch.equal(a, b) for a, b in pairs if not a.is_floating_point()):
                return  # rounding may decide a whole number
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
        if not answer.values_right:
            weighed.wrong = answer


def affordable(
    sizes: Mapping[str, int],
    grow: Mapping[str, int],
    seconds: float,
    most: float = math.inf,
) -> Mapping[str, int]:
    """The sizes of the larger call: halved while a right answer would take too long, but at least
    twice the smaller ones.

    `seconds` is what the smaller call took; a right answer's time grows by the product of the
    sizes' growth at most, or by `most`. It may be slow: loops over numbers.
    """
    halvings = 0
    while True:
        larger = {name: max(2 * sizes[name], size >> halvings) for name, size in grow.items()}
        factor = math.prod(size / sizes[name] for name, size in larger.items())
        if grow:
            factor = min(factor, most ** growth(sizes, grow, larger)[1])
        least = all(size == 2 * sizes[name] for name, size in larger.items())
        if least or seconds * factor <= AFFORDABLE:
            return {**sizes, **larger}
        halvings += 1


def busy(outcome: Outcome) -> float:
    """Seconds that a call computed; one that sleeps is not slow."""
    return outcome.usage.cpu_seconds if outcome.usage is not None else outcome.seconds


def growth(
    sizes: Mapping[str, int], grow: Mapping[str, int], larger: Mapping[str, int]
) -> tuple[dict[str, float], float]:
    """How many times each grown symbol is larger, and which part of the growth asked for that is,
    as an exponent."""
    times = {name: larger[name] / sizes[name] for name in grow}
    whole = max(size / sizes[name] for name, size in grow.items())
    return times, math.log(max(times.values())) / math.log(whole)


def counted_excess(
    cost: Mapping[str, Any], larger: Mapping[str, int], small: Counts, large: Counts
) -> Excess | None:
    """The bound on a count, if it is broken."""
    how = {"work": "work", "largest-tensor": "tensor", "largest-computed": "computed"}
    made = large.tensor if cost["measure"] == "largest-tensor" else large.computed
    before = small.tensor if cost["measure"] == "largest-tensor" else small.computed
    if cost["measure"] == "work":
        now, then, made, line = large.work, small.work, None, large.line
    else:
        now = made.elements if made else 0
        then = before.elements if before else 0
        line = made.line if made else None
    excess = Excess(how[cost["measure"]], larger, made=made, line=line)
    if not cost["grow"]:
        allowed = evaluate(cost["at_most"], cost["sizes"])
        return replace(excess, ratio=now, allowed=allowed) if now > allowed else None
    times, part = growth(cost["sizes"], cost["grow"], larger)
    allowed = cost["at_most"] ** part
    ratio = now / max(then, 1)
    if ratio <= allowed:
        return None
    return replace(excess, grown=times, ratio=ratio, allowed=allowed)


def outside_excess(
    outside: Mapping[str, Any],
    larger: Mapping[str, int],
    small: Usage | None,
    large: Usage,
    known_bytes: int,
) -> Excess | None:
    """The bound on a reading, if it is broken. `known_bytes`: arguments and results."""
    if outside["time"] is not None and small is not None and large.cpu_seconds > SHORTEST:
        times, part = growth(outside["sizes"], outside["grow"], larger)
        ratio = large.cpu_seconds / max(small.cpu_seconds, LEAST)
        allowed = outside["time"] ** part
        if ratio > allowed:
            return Excess("time", larger, times, ratio, usage=(small, large), allowed=allowed)
    if outside["bytes"] is not None:
        rise = large.peak_bytes - known_bytes
        bound = max(evaluate(outside["bytes"], larger), MEMORY_NOISE)
        if rise > bound:
            usage = Usage(large.cpu_seconds, rise)
            return Excess("memory", larger, ratio=rise, usage=(usage, usage), allowed=bound)
    return None


def entries_of(case: BuiltCase) -> int:
    """Of its tensor arguments."""
    return sum(value.numel() for value in case.values.values() if isinstance(value, torch.Tensor))


def bytes_of(case: BuiltCase) -> int:
    """Of its arguments and its results, the latter both as they come and as they are handed on."""
    tensors = [value for value in case.values.values() if isinstance(value, torch.Tensor)]
    given = sum(value.numel() * value.element_size() for value in tensors)
    results = sum(
        math.prod(spec.shape) * torch.empty(0, dtype=getattr(torch, spec.dtypes[0])).element_size()
        for spec in case.outputs.values()
    )
    return given + 2 * results
