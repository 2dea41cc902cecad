"""The checks of what a call costs: facts of `grader.judging.costs`, words of feedback/cost.j2."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from grader.feedback.words import say
from grader.judging.answers import Answer
from grader.judging.checks import Checks, sizes_text
from grader.judging.cost_bounds import Excess
from grader.judging.costs import Weighed
from grader.judging.verdicts import of_outcome
from grader.report import Check, Costs

VALUES = "cost/values"
POWERS = {2: "squared", 3: "cubed"}


def cost_checks(
    checks: Checks, declared: Sequence[Mapping[str, Any]], weighed: Sequence[Weighed]
) -> list[Check]:
    """One check a required cost, and one of the values at their sizes.

    `weighed` is empty where an earlier check fails.
    """
    if not weighed:
        titles = {f"cost/{cost['id']}": cost["title"] for cost in declared if cost["required"]}
        message = say("skipped", reason="before")
        titles[VALUES] = "values at larger sizes"
        return [Check(id_, "skipped", message, title) for id_, title in titles.items()]
    found = [_cost(checks, one) for one in weighed if one.cost["required"]]
    return [*found, _values(checks, weighed)]


def notes(weighed: Sequence[Weighed]) -> tuple[str, ...]:
    """What is reported of costs that fail nobody."""
    return tuple(
        f"{message_of(one.excess, one.cost)} Reported, not held against it."
        for one in weighed
        if one.excess is not None and not one.cost["required"]
    )


def totals(seconds: float, reference_seconds: float, weighed: Sequence[Weighed]) -> Costs:
    """The report's figures; the counts are those of the first cost's larger call."""
    counts = next((one.counts for one in weighed if one.counts is not None), None)
    return Costs(
        seconds=seconds,
        reference_seconds=reference_seconds,
        flops=counts.flops if counts else None,
        largest_tensor=counts.tensor.elements if counts and counts.tensor else None,
    )


def _cost(checks: Checks, one: Weighed) -> Check:
    id_, title = f"cost/{one.cost['id']}", one.cost["title"]
    if one.excess is not None:
        line = one.excess.line or 0
        return Check(id_, "too_costly", message_of(one.excess, one.cost), title, line)
    if one.outcome is not None and one.case is not None:
        stopped = Answer(one.case, one.outcome, None, ())
        return Check(id_, of_outcome(one.outcome), checks.stop(stopped), title)
    if not one.reached or one.outcome is not None:
        return Check(id_, "skipped", say("skipped", reason="stopped"), title)
    if one.wrong is not None:
        return Check(id_, "skipped", say("skipped", reason="values"), title)
    return Check(id_, "passed", title=title)


def _values(checks: Checks, weighed: Sequence[Weighed]) -> Check:
    title = "values at larger sizes"
    for one in weighed:
        if one.wrong is not None:
            case = one.wrong.case
            differences = one.wrong.differences
            message = say(
                "cost_values",
                sizes=sizes_text(case.sizes),
                difference=checks.difference(differences[0]) if differences else "",
            )
            return Check(VALUES, "wrong_answer", message, title)
        if one.outcome is not None and one.case is None:
            message = checks.again(one.outcome)
            return Check(VALUES, of_outcome(one.outcome), message, title)
        if one.outcome is not None and one.case is not None and not one.cost["required"]:
            stopped = Answer(one.case, one.outcome, None, ())
            return Check(VALUES, of_outcome(one.outcome), checks.stop(stopped), title)
    if any(one.outcome is not None or not one.reached for one in weighed):
        return Check(VALUES, "skipped", say("skipped", reason="stopped"), title)
    return Check(VALUES, "passed", title=title)


def message_of(excess: Excess, cost: Mapping[str, Any]) -> str:
    """What costs too much, how it grows, and the remedy."""
    made, usage = excess.made, excess.usage
    return say(
        "cost",
        how=excess.how,
        line=excess.line,
        shape=_shape(made.shape) if made else "",
        elements=f"{made.elements:,}" if made else "",
        ratio=f"{excess.ratio:.3g}",
        times=_times(excess.grown),
        law="" if excess.how == "time" else law(excess.ratio, excess.grown),  # a clock is no count
        sizes=sizes_text(excess.sizes),
        allowed=f"{excess.allowed:,.0f}",
        before=f"{usage[0].cpu_seconds * 1000:.3g}" if usage else "",
        after=f"{usage[1].cpu_seconds * 1000:.3g}" if usage else "",
        rise=_mebibytes(excess.ratio),
        room=_mebibytes(excess.allowed),
        instead=cost["instead"].rstrip("."),
    )


def law(ratio: float, grown: Mapping[str, float]) -> str:
    """`T`, `T squared`, `T x S`: what grows so when the symbols grow alike; "" where none fits."""
    if not grown or ratio <= 1:
        return ""
    power = math.log(ratio) / math.log(max(grown.values()))
    nearest = round(power)
    if abs(power - nearest) > 0.2 or nearest < 1:
        return ""
    names = list(grown)
    if len(names) == nearest:
        return " x ".join(names)
    if len(names) == 1:
        return f"{names[0]} {POWERS[nearest]}" if nearest in POWERS else ""
    return " and ".join(names) if nearest == 1 else ""


def _times(grown: Mapping[str, float]) -> str:
    """`T grows 4 times`, `T and S grow 4 times`."""
    if not grown:
        return ""
    verb = "grows" if len(grown) == 1 else "grow"
    return f"{' and '.join(grown)} {verb} {max(grown.values()):g} times"


def _shape(shape: Sequence[int]) -> str:
    return f"({', '.join(map(str, shape))}{',' if len(shape) == 1 else ''})"


def _mebibytes(count: float) -> str:
    return f"{count / 2**20:.3g} MiB"
