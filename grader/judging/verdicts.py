"""From what a worker reports to a verdict, and from those of the checks to that of the whole."""

from __future__ import annotations

from collections.abc import Iterable

from grader.isolation.calls import FATAL, Outcome
from grader.report import Verdict

STATUS: dict[str, Verdict] = {
    "returned": "passed",
    "exception": "runtime_error",
    "timeout": "time_limit",
    "died": "crashed",
    "memory": "memory_limit",
    "output": "output_limit",
    "resource": "resource_limit",
    "forbidden": "forbidden",
    "denied": "denied",
    "protocol": "wrong_answer",
    "syntax": "invalid",
    "missing": "invalid",
    "not-callable": "invalid",
    "no-device": "not_run",
}

ENDS = FATAL | {"forbidden", "denied", "resource"}
"""Statuses after which no further case is tried."""

PRECEDENCE: tuple[Verdict, ...] = (
    "grader_error",
    "invalid",
    "forbidden",
    "denied",
    "crashed",
    "memory_limit",
    "time_limit",
    "output_limit",
    "resource_limit",
    "runtime_error",
    "wrong_answer",
    "too_costly",
)
"""The verdict of a run is that of its gravest check: what stopped it, then what raised, then what
came out wrong, then what cost too much."""


def of_outcome(outcome: Outcome) -> Verdict:
    """The verdict on one call."""
    return STATUS[outcome.status]


def of_run(verdicts: Iterable[Verdict]) -> Verdict:
    """The verdict on a whole run; `skipped` checks only follow from others that failed."""
    given = set(verdicts)
    return next((verdict for verdict in PRECEDENCE if verdict in given), "passed")
