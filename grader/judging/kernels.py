"""What a kernel is judged by beyond the cases of a code question: shapes, strides, growth, speed.

One question, three devices. On the CPU a kernel in plain torch is judged by all of it. Under
Triton's interpreter values and shapes alone say anything: `interpreted` is the question as that
device asks it. What needs a device that is not here is `not_run`, and never counts as passed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

from grader.feedback.words import clean, say
from grader.fit import power
from grader.judging.answers import Answer, record, request
from grader.judging.cases import BuiltCase, find, sized
from grader.judging.checks import Checks
from grader.judging.cost_bounds import MEMORY_NOISE
from grader.judging.oracle import Oracle
from grader.judging.trial import Conductor, Timed, Trial, Worker, WorkerFactory
from grader.judging.verdicts import of_outcome
from grader.report import Check, Device, Growth

SUPPORT = "support"
DEVICES: dict[Device, str] = {
    "cpu": "on the CPU",
    "interpret": "in Triton's interpreter",
    "cuda": "on a GPU",
}


def interpreted(question: Mapping[str, Any]) -> dict[str, Any]:
    """The question under Triton's interpreter: few cases, in its dtypes, values and shapes alone.

    float16 is for the cases that list it: the scores of others leave its range.
    """
    asked = question["interpret"]
    cases = []
    for id_ in asked["cases"]:
        declared = find(question, id_)
        dtypes = [d for d in asked["dtypes"] if d == "float32" or d in declared["dtypes"]]
        cases.append({**declared, "dtypes": dtypes, "gradients": False})
    return {**question, "cases": cases, "support": (), "strided": (), "costs": (), "gradients": ()}


def launch_check(trial: Trial) -> Check:
    """Whether a kernel of Triton's ran at all: plain torch passes every case of its own."""
    title = "Triton kernels launched"
    outcomes = [answer.outcome for answer in trial.answers.values() if answer.returned]
    if not outcomes:
        return Check("launches", "skipped", say("skipped", reason="nothing"), title)
    launched = [outcome.launches for outcome in outcomes]
    if not any(launched):
        return Check("launches", "invalid", say("kernel", what="no-launch"), title)
    return Check("launches", "passed", say("kernel", what="launches", most=max(launched)), title)


def absent(device: Device) -> Check:
    """The check that stands for all the stages of a device that this grade did not use."""
    message = say("kernel", what="absent", device=device)
    return Check(f"device/{device}", "not_run", message, DEVICES[device])


def other_devices(asked: Device) -> list[Check]:
    """What the devices other than `asked` would have judged."""
    return [absent(device) for device in DEVICES if device != asked]


def support_checks(question: Mapping[str, Any], trial: Trial) -> list[Check]:
    """One check a shape and dtype of the matrix."""
    found = Checks(question, question["support"], trial).values()
    return [replace(check, id=f"{SUPPORT}/{check.id.partition('/')[2]}") for check in found]


def strided_note(answers: Sequence[Answer]) -> str:
    """What was found of inputs that are not contiguous; "" where all came out right."""
    wrong = [answer for answer in answers if not answer.values_right]
    if not wrong:
        return ""
    return say(
        "kernel",
        what="strided",
        title=wrong[0].case.title,
        wrong=len(wrong),
        total=len(answers),
        verdict=of_outcome(wrong[0].outcome),
        error=clean(wrong[0].outcome.error, 300),
    )


def support_skipped(question: Mapping[str, Any]) -> list[Check]:
    """The matrix where an earlier check fails: one line for all of it."""
    if not question["support"]:
        return []
    return [Check(SUPPORT, "skipped", say("skipped", reason="before"), "the support matrix")]


class Kernel:
    """Judges one submission whose values are right."""

    def __init__(
        self, question: Mapping[str, Any], oracle: Oracle, seed: int, worker_factory: WorkerFactory
    ) -> None:
        self.question = question
        self.oracle = oracle
        self.seed = seed
        self.worker_factory = worker_factory
        self.ended: Answer | None = None  # the call on which the measuring of growth ended

    def support(self, worker: Worker, trial: Trial) -> None:
        """Call every shape of the matrix in every dtype: further cases of the same trial."""
        support = self.question["support"]
        conductor = Conductor(self.question, support, self.oracle, self.seed, self.worker_factory)
        conductor.values(worker, trial)

    def strided(self, worker: Worker) -> list[Answer]:
        """Calls with inputs that are not contiguous."""
        timed = Timed(worker, self.question["seconds"])
        found = []
        for id_ in self.question["strided"]:
            case = self.oracle.draw(find(self.question, id_), "float32", self.seed)
            outcome = timed.call(replace(request(case), strided=True))
            found.append(record(case, outcome, self.oracle))
        return found

    def growth(self) -> tuple[tuple[Growth, ...], tuple[int, int]]:
        """How the largest tensor and the process's memory grow with the length, as powers; and the
        operations dispatched at the shortest and at the longest length.

        Empty where a call did not return: `ended` then is that call.
        """
        slope = self.question["slope"]
        lengths, tensors, memory, operations = slope["lengths"], [], [], []
        with self.worker_factory() as worker:
            loaded = worker.load()
            if loaded.status != "returned":
                self.ended = Answer(self._sized(lengths[0], "read"), loaded, None, ())
                return (), (0, 0)
            timed = Timed(worker, self.question["seconds"])
            for n in (lengths[0], *lengths):  # what a first call brings along is not its work
                read = timed.call(replace(request(self._sized(n, "read")), measure="memory"))
                counted = timed.call(replace(request(self._sized(n, "counted")), count=True))
                bad = next((o for o in (read, counted) if o.status != "returned"), None)
                if bad is not None or counted.counts is None:
                    self.ended = Answer(self._sized(n, "read"), bad or counted, None, ())
                    return (), (0, 0)
                made = counted.counts.tensor
                tensors.append(made.elements if made else 1)
                if read.usage is not None:
                    memory.append(max(read.usage.peak_bytes, MEMORY_NOISE))
                operations.append(counted.counts.operations)
        tensors, memory, operations = tensors[1:], memory[1:], operations[1:]
        found = []
        measured: tuple[tuple[Literal["tensor", "memory"], list[int]], ...]
        measured = ("tensor", tensors), ("memory", memory)
        for what, values in measured:
            if len(values) < len(lengths):  # no system but Linux tells the memory
                continue
            line = power([float(n) for n in lengths], [float(value) for value in values])
            if line is not None:
                points = tuple(values)
                found.append(Growth(what, line.slope, line.error or 0.0, slope["at_most"], points))
        return tuple(found), (operations[0], operations[-1])

    def _sized(self, length: int, use: str) -> BuiltCase:
        slope = self.question["slope"]
        sizes = {**slope["sizes"], **dict.fromkeys(slope["symbols"], length)}
        return sized(
            self.question, self.seed, f"slope/{use}/{length}", sizes, inputs=slope["inputs"]
        )


def growth_check(question: Mapping[str, Any], found: Sequence[Growth]) -> Check:
    """Whether what a call holds grows too fast with the length."""
    slope = question["slope"]
    title = f"memory against {' and '.join(slope['symbols'])}"
    if not found:
        return Check("growth", "skipped", say("skipped", reason="stopped"), title)
    over = [one for one in found if one.slope - 2 * one.error > one.at_most]
    message = say(
        "kernel",
        what="growth",
        growth=[(one.what, f"{one.slope:.2f}", f"{one.error:.2f}") for one in over or found],
        over=bool(over),
        symbols=" and ".join(slope["symbols"]),
        at_most=f"{slope['at_most']:g}",
        lengths=f"{slope['lengths'][0]:,} to {slope['lengths'][-1]:,}",
    )
    return Check("growth", "too_costly" if over else "passed", message, title)
