"""A sitting: one stretch of work on one problem, from being served to a pass, or to giving up.

It is worked out from the recorded facts each time; nothing about it is stored.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from drills.schedule import ONE_SITTING
from drills.store.rows import Attempt, Event, Review

BEGINNINGS = ("served", "started", "shown")
PUT_OFF = timedelta(days=1)
# Not held against the learner: nothing was judged, or the answer could not be read.
NO_FAILURE = ("passed", "invalid", "not_run", "needs_review", "skipped", "grader_error")


@dataclass(frozen=True)
class Sitting:
    """`rated`: a review was recorded in this sitting, so a pass is now practice only.
    `unfinished`: served or begun, and neither passed nor put off since. `hints` count against the
    rating; `hints_shown` are those to go on from, practice included."""

    began: datetime | None = None
    attempts: int = 0
    failures: int = 0
    hints: int = 0
    hints_shown: int = 0
    rated: bool = False
    unfinished: bool = False
    put_off_until: datetime | None = None


def current(
    attempts: Sequence[Attempt],
    reviews: Sequence[Review],
    events: Sequence[Event],
    now: datetime,
) -> Sitting:
    """The sitting that is on at `now`, from one question's facts in order of time."""
    reset = max((e.at for e in events if e.name == "reset"), default=None)
    skips = [e.at for e in events if e.name == "skipped" and (reset is None or e.at > reset)]
    last_review = max(
        (r.at for r in reviews if reset is None or r.at > reset),
        default=None,
    )
    rated = last_review is not None and now - last_review < ONE_SITTING
    bounds = [moment for moment in (reset, max(skips, default=None), last_review) if moment]
    since = max(bounds, default=None)

    def after(moment: datetime) -> bool:
        return since is None or moment > since

    begun = [e.at for e in events if e.name in BEGINNINGS and after(e.at)]
    here = [a for a in attempts if after(a.at)]
    failures = sum(a.verdict not in NO_FAILURE for a in here)
    practice_until = last_review + ONE_SITTING if last_review else None

    def counts(moment: datetime) -> bool:
        return practice_until is None or moment >= practice_until

    unfinished = any(
        counts(e.at) for e in events if e.name in ("served", "started") and after(e.at)
    ) or any(counts(a.at) for a in here)
    hints = [e for e in events if e.name == "hint" and after(e.at)]
    put_off = max(skips, default=None)
    recent = [moment for moment in begun if now - moment < ONE_SITTING]
    return Sitting(
        began=min(recent, default=None),
        attempts=len(here),
        failures=failures,
        hints=len({str(e.detail.get("number")) for e in hints if counts(e.at)}),
        hints_shown=len({str(e.detail.get("number")) for e in hints}),
        rated=rated,
        unfinished=unfinished,
        put_off_until=put_off + PUT_OFF if put_off and put_off + PUT_OFF > now else None,
    )
