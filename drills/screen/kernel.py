"""What is told of a kernel beyond its checks: growth, operations, speed, slow
paths, and the other devices."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.text import Text

from drills.screen import console as look
from drills.screen.evidence import labelled
from drills.screen.safe import safe

if TYPE_CHECKING:
    from grader.report import Device, Growth, Paths, Report, Speed

_MEASURED = {"tensor": "the largest tensor", "memory": "the process", "device": "the device"}


def kernel_lines(report: Report, width: int) -> list[Text]:
    """Nothing for other questions, and for a kernel that failed before anything was measured."""
    rows: list[tuple[str, str]] = []
    if report.growth:
        grown = ", ".join(_grown(one) for one in report.growth)
        most = f"at most length^{report.growth[0].at_most:g} is asked for"
        rows.append(("Memory", f"{grown}; {most}"))
    if report.operations:
        few, many = report.operations
        rows.append(
            ("Work", f"{few:,} operations dispatched at the least length, {many:,} at the greatest")
        )
    counted = next((c for c in report.checks if c.id == "kernels" and c.verdict == "passed"), None)
    if counted is not None:
        rows.append(("Work", counted.message))
    if report.speed is not None:
        rows += [("Speed", words) for words in _speed(report.speed, report.device)]
        rows += [("Ladder", words) for words in _ladder(report.speed)]
    if report.paths is not None:
        rows += [("Shapes", words) for words in _paths(report.paths)]
    for check in report.checks:
        if check.verdict == "not_run":
            rows.append(("Not run", f"{check.title}: {check.message}"))
    lines: list[Text] = [Text("")] if rows else []
    before = ""
    for label, words in rows:
        lines += labelled("" if label == before else label, Text(safe(words)), width)
        before = label
    for line in lines:
        if "Not run" in line.plain[:9]:
            line.stylize(look.DIM)
    return lines


def _grown(one: Growth) -> str:
    if len(set(one.values)) == 1:  # of the memory, what is too little to be read is one floor
        how = "does not grow" if one.what == "tensor" else "grows by too little to be measured"
        return f"{_MEASURED[one.what]} {how}"
    return f"{_MEASURED[one.what]} grows as length^{one.slope:.2f} ± {one.error:.2f}"


def _speed(speed: Speed, device: Device) -> list[str]:
    if speed.unreliable:
        return [speed.unreliable]
    of = "on the device" if device == "cuda" else "of processor time"
    return [
        f"{_times(speed.times_naive)} the speed of naive code, {speed.cpu_seconds * 1000:.3g} ms "
        f"{of} a call ({speed.seconds * 1000:.3g} ms by the clock)",
        f"{_times(speed.times_fused)} the time of torch's own fused one",
    ]


def _ladder(speed: Speed) -> list[str]:
    """The rungs from slow to fast, and which is the next."""
    rows = []
    above = True
    for rung in speed.ladder:
        if rung.reached:
            sign, after = "✓", ""
        elif rung.reached is None:
            sign, after = "?", " (at its edge: not certain)"
        else:
            sign, after = "–", " (next)" if above else ""
        above = above and bool(rung.reached)
        rows.append(f"{sign} {rung.name}{after}")
    return rows


def _paths(paths: Paths) -> list[str]:
    if paths.unreliable:
        return [paths.unreliable]
    rows = []
    for path in paths.shapes:
        if path.slow is not False:
            how = "slow path" if path.slow else "perhaps a slow path (not certain)"
            rows.append(
                f"{how}: {path.title}, {_times(path.times)} the others' time for the same work"
            )
    rows += [f"an exception here: {title}" for title in paths.failed]
    if not rows:
        return [
            f"no slow path: {len(paths.shapes)} shapes of nearly the same work take about as long"
        ]
    return rows


def _times(value: tuple[float, float, float]) -> str:
    middle, low, high = value
    return f"{middle:.2f} x ({low:.2f} to {high:.2f})"
