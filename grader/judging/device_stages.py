"""The stages of a kernel's grade on a GPU: kernels a call, the device's memory, speed, slow paths.

What is right is computed as for the CPU, by the judge: it has no GPU, and baselines in the same
dtype round alike wherever they run, for the sums of half-precision products are kept in float32
there too. So a kernel is not measured by the rounding of the device that it runs on.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from grader.feedback.words import say
from grader.fit import power
from grader.isolation import nvml
from grader.isolation.calls import Outcome
from grader.judging.answers import Answer, request
from grader.judging.cases import BuiltCase, sized
from grader.judging.device_race import COPIED, DeviceFinder, DeviceRacer, taken
from grader.judging.kernel_stages import Stages
from grader.judging.kernels import growth_check, other_devices
from grader.judging.oracle import Oracle
from grader.judging.speed import Others
from grader.judging.trial import Timed, Worker, WorkerFactory
from grader.report import UNTRIED, Check, Growth

DTYPES = ("float32", "bfloat16", "float16")
UNCHANGED = ("values", "arange", "integers")  # fills that are no matter of a dtype's range
FEWEST_BYTES = 1 << 20
"""Of memory, below which a rise is not told from none."""
PAST_TORCH = 256 << 20
"""Bytes by which the device's memory may rise above twice what torch counts: more is memory that
was taken past torch, or another program's."""
FUSION = "kernels launched by a call"


def on_cuda(question: Mapping[str, Any]) -> dict[str, Any]:
    """The question on a GPU: in the device's dtypes, with sizes of its own, counted there.

    The matrix is called in all of them, but for shapes that change the numbers: large ones leave
    float16's range.
    """
    asked = question["cuda"]
    cases = [
        {**case, "dtypes": [d for d in case["dtypes"] if d in DTYPES]} for case in question["cases"]
    ]
    support = [{**case, "dtypes": _dtypes(case)} for case in question["support"]]
    speed = question["speed"] and {**question["speed"], **asked["speed"]}
    paths = question["paths"]
    if paths:
        paths = {**paths, "sizes": {**paths["sizes"], **asked["paths"]}}
    changed = {"cases": cases, "support": support, "costs": (), "slope": asked["slope"]}
    return {**question, **changed, "speed": speed, "paths": paths}


def _dtypes(case: Mapping[str, Any]) -> list[str]:
    specs = [spec for spec in case["inputs"].values() if "shape" in spec]
    if all(spec["fill"] in UNCHANGED for spec in specs):
        return list(DTYPES)
    return [dtype for dtype in case["dtypes"] if dtype in DTYPES]


class DeviceStages(Stages):
    """What follows the cases on a GPU."""

    asks_shapes = True

    def __init__(
        self,
        question: Mapping[str, Any],
        oracle: Oracle,
        seed: int,
        worker_factory: WorkerFactory,
        others: Others | None,
    ) -> None:
        super().__init__(question, oracle, seed, worker_factory, "cuda", None)
        self.seed = seed
        self.worker_factory = worker_factory
        if others is not None and question["speed"]:
            racer = DeviceRacer(question, oracle, seed, worker_factory, others)
            racer.copied = others(COPIED)
            self.racer = racer
            if question["paths"]:
                self.finder = DeviceFinder(question, seed, worker_factory, others)
                self.finder.dtype = question["speed"]["dtype"]

    def cost_checks(self, right: bool) -> list[Check]:
        """Kernels, memory and the timed values, where all before is `right`; other devices."""
        if not right:
            skipped = say("skipped", reason="before")
            found = [
                Check("kernels", "skipped", skipped, FUSION),
                Check("growth", "skipped", skipped, "memory of the device against the length"),
            ]
            return [*found, *other_devices("cuda")]
        found = self._counted()
        if all(check.verdict in ("passed", "not_run") for check in found):
            found += self._raced()
        return [*found, *other_devices("cuda")]

    def _counted(self) -> list[Check]:
        """The checks of kernels and memory, by a process of its own."""
        with self.worker_factory() as worker:
            loaded = worker.load()
            timed = Timed(worker, self.question["seconds"])
            kernels, ended = self._kernels(timed) if loaded.status == "returned" else (0, loaded)
            peaks: list[int] = []
            if ended is None:
                peaks, ended = self._peaks(timed)
        if ended is not None:
            return [self._ended(ended)]
        self.growth = grown(self.question["slope"], peaks)
        growth = growth_check(self.question, self.growth)
        return [kernels_check(kernels, self.question["cuda"]["launches"]), growth]

    def _ended(self, outcome: Outcome) -> Check:
        """The check of a call that did not return while kernels or memory were counted."""
        answer = Answer(self._sized(self.question["slope"]["lengths"][0]), outcome, None, ())
        return self.stopped("growth", answer, "memory of the device against the length")

    def _kernels(self, worker: Worker) -> tuple[int, Outcome | None]:
        """Of the second call of its kind, for the first one builds; or the call that ended it."""
        case = self._sized(self.question["slope"]["lengths"][0])
        for measure in ("", "kernels"):
            outcome = worker.call(replace(request(case), measure=measure))
            if outcome.status != "returned":
                return 0, outcome
        return taken(outcome).kernels, None

    def _peaks(self, worker: Worker) -> tuple[list[int], Outcome | None]:
        """Bytes held at the highest at each length; or the call that ended it."""
        inside, outside = [], []
        for length in self.question["slope"]["lengths"]:
            call = request(self._sized(length))
            before = nvml.used()
            measured = worker.call(replace(call, measure="memory"))
            after = nvml.used()
            if measured.status != "returned":
                return [], measured
            inside.append(taken(measured).peak)
            outside.append(0 if before is None or after is None else after - before)
        return peaks_of(inside, outside), None

    def _sized(self, length: int) -> BuiltCase:
        slope, dtype = self.question["slope"], self.question["cuda"]["speed"]["dtype"]
        sizes = {**slope["sizes"], **dict.fromkeys(slope["symbols"], length)}
        return sized(self.question, self.seed, f"slope/{length}", sizes, dtype, slope["inputs"])

    def notes(self) -> tuple[str, ...]:
        return (*super().notes(), UNTRIED[0].upper() + UNTRIED[1:] + ".")


def peaks_of(inside: list[int], outside: list[int]) -> list[int]:
    """What counts of the bytes that torch told and of those that the device's memory rose by.

    Torch keeps what it frees, so the device's memory rises by no more than a call held. Where it
    rose by far more at both of the longest lengths, the kernel took memory past torch.
    """
    past = [out > 2 * own + PAST_TORCH for own, out in zip(inside, outside, strict=True)]
    return [max(pair) for pair in zip(inside, outside, strict=True)] if all(past[-2:]) else inside


def grown(slope: Mapping[str, Any], peaks: list[int]) -> tuple[Growth, ...]:
    """The power of the length by which the device's memory grows."""
    held = [max(peak, FEWEST_BYTES) for peak in peaks]
    line = power([float(n) for n in slope["lengths"]], [float(peak) for peak in held])
    if line is None:
        return ()
    return (Growth("device", line.slope, line.error or 0.0, slope["at_most"], tuple(held)),)


def kernels_check(kernels: int, most: int) -> Check:
    """Whether a call is fused: it launches no more kernels than the question declares."""
    message = say("kernel", what="kernels", kernels=kernels, most=most)
    verdict = "not_run" if not kernels else "passed" if kernels <= most else "too_costly"
    return Check("kernels", verdict, message, FUSION)  # type: ignore[arg-type]


def absent(loaded: Outcome) -> Check:
    """The check of a grade whose device did not start."""
    message = say("kernel", what="no-device", error=loaded.error)
    return Check("device/cuda", "not_run", message, "the device starts")
