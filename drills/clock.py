"""UTC, as text that sorts: 2026-11-29T20:15:00.000000Z."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone

_FORM = "%Y-%m-%dT%H:%M:%S.%fZ"


def now() -> datetime:
    return datetime.now(timezone.utc)


def latest_believed() -> datetime:
    """What is dated later was recorded while a clock was wrong: a day covers those of several
    machines, and more would put problems off for as long as the clock was ahead."""
    return now() + timedelta(days=1)


def to_text(moment: datetime) -> str:
    return moment.astimezone(timezone.utc).strftime(_FORM)


def from_text(text: str) -> datetime:
    """Raises ValueError for anything but what `to_text` writes."""
    # strptime would import locale and calendar: 3 ms of each start.
    moment = datetime.fromisoformat(text[:-1]).replace(tzinfo=timezone.utc)
    if to_text(moment) != text:
        raise ValueError(f"{text!r} is not a moment as written here")
    return moment


def in_words(span: timedelta) -> str:
    """A span as a person says it: "3 hours", "1 day"; never more exact than it is useful."""
    seconds = abs(span.total_seconds())
    for size, name in ((86400, "day"), (3600, "hour"), (60, "minute")):
        if seconds >= size:
            count = round(seconds / size)
            return f"{count} {name}" + ("" if count == 1 else "s")
    return "a moment"


def when(moment: datetime, today: datetime) -> str:
    """A coming moment: "now", "in 5 hours", "tomorrow", "in 9 days"."""
    if moment <= today:
        return "now"
    days = (moment.astimezone().date() - today.astimezone().date()).days
    if days == 1:
        return "tomorrow"
    if days > 1:
        return f"in {days} days"
    return f"in {in_words(moment - today)}"
