"""Where the learner should look first: one case, and the worst entry in it."""

from __future__ import annotations

from collections.abc import Iterator

from torch import Tensor

from grader.judging.cases import BuiltCase
from grader.judging.checks import Checks
from grader.judging.compare import Difference, entry, pair
from grader.judging.trial import Trial
from grader.report import Verdict, Where


def where(checks: Checks, trial: Trial, verdict: Verdict) -> Where | None:
    """The smallest wrong case, float32 first; a gradient where all values are right; a case alone
    where no number is wrong, or where another fault is graver. None for what no input brings
    about."""
    if verdict in ("forbidden", "denied", "invalid"):
        return None
    again = trial.repetition
    if again is not None and again.case is not None and again.how in ("differs", "depends"):
        return _place(again.case)  # what was wrong before it may be so for the same reason
    found = _smallest(trial) if verdict == "wrong_answer" else None
    if found is None:
        case = next(_faulty(trial), None)
        found = (case, ()) if case is not None else _smallest(trial)
    if found is None:
        return None
    case, differences = found
    return _with_entry(_place(case), checks, differences) if differences else _place(case)


def _place(case: BuiltCase) -> Where:
    tensors = [v for v in case.values.values() if isinstance(v, Tensor)]
    dtype = case.dtype if any(v.is_floating_point() for v in tensors) else ""
    return Where(case=case.id, case_title=case.title, sizes=case.sizes, dtype=dtype)


def size(case: BuiltCase) -> tuple[bool, bool, int]:
    """What makes a case small to a learner: float32, scores that do not saturate, few entries."""
    return case.dtype != "float32", case.clear_leader, case.entries()


def _smallest(trial: Trial) -> tuple[BuiltCase, tuple[Difference, ...]] | None:
    wrong = [a for a in trial.answers.values() if a.differences]
    if wrong:
        answer = min(wrong, key=lambda a: size(a.case))
        return answer.case, answer.differences
    slopes = [s for s in trial.slopes.values() if s.differences]
    if slopes:
        smallest = min(slopes, key=lambda s: s.case.entries())
        return smallest.case, smallest.differences
    return None


def _faulty(trial: Trial) -> Iterator[BuiltCase]:
    """The cases of other faults, in the order in which the report tells them."""
    answers = list(trial.answers.values())
    yield from (a.case for a in answers if not a.returned)
    yield from (s.case for s in trial.slopes.values() if s.outcome.status != "returned")
    yield from (a.case for a in answers if not a.shapes_fit)
    yield from (a.case for a in answers if not a.dtypes_fit)
    yield from (s.case for s in trial.slopes.values() if not s.right and not s.differences)
    yield from (case for case, _ in trial.changed)
    if trial.repetition is not None and trial.repetition.case is not None:
        yield trial.repetition.case


def _with_entry(place: Where, checks: Checks, found: tuple[Difference, ...]) -> Where:
    worst = max(found, key=lambda d: d.ratio)
    pattern = "" if worst.name.endswith(".grad") else checks.pattern(worst)
    if not worst.name.endswith(".grad") and worst.nan == worst.wrong_entries:
        pattern = f"NaN: {pattern}" if pattern else "NaN"
    yours, expected = pair(worst)
    return Where(
        case=place.case,
        case_title=place.case_title,
        sizes=place.sizes,
        dtype=place.dtype,
        pattern=pattern,
        index=entry(worst.name, worst.index),
        yours=yours,
        expected=expected,
        allowed=f"±{worst.allowed:.1g}" if worst.allowed else "",
        wrong_entries=worst.wrong_entries,
        entries=worst.entries,
    )
