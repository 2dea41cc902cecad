"""How a learner's answers changed over time: by week, and over more than half a year by month."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from itertools import pairwise
from statistics import median

from drills import clock, schedule
from drills.sitting import NO_FAILURE
from drills.store import Attempt, Review, counts
from drills.store.counts import Occasion

SPAN = timedelta(days=3 * 365)  # what is told of: one try of a clock that stood at 1970 is not
_WEEKS = timedelta(days=182)  # a longer history is told by months
TRIES_TO_BE_GONE = 3


@dataclass(frozen=True)
class Period:
    """A week or a month, from `start` on. `first_tries` of its `sittings` passed at once; `pace` is
    the median of time over par, of what was passed; `recall` the mean prediction at its end. None
    where there was nothing to tell from."""

    start: date
    sittings: int
    first_tries: int
    pace: float | None
    recall: float | None


@dataclass(frozen=True)
class Made:
    """A mistake: the days on which it was made, and the tries since then, passed or not, at the
    problems it was made in."""

    title: str
    days: tuple[date, ...]
    tries_since: int

    @property
    def gone(self) -> bool:
        return self.tries_since >= TRIES_TO_BE_GONE


def by_months(attempts: Sequence[Attempt], now: datetime) -> bool:
    recent = _recent(attempts, now)
    return bool(recent) and now - recent[0].at > _WEEKS


def _recent(attempts: Sequence[Attempt], now: datetime) -> list[Attempt]:
    return [attempt for attempt in attempts if now - attempt.at < SPAN]


def periods(
    attempts: Sequence[Attempt],
    reviews: Sequence[Review],
    resets: Mapping[str, Sequence[datetime]],
    par: Mapping[str, int],
    now: datetime,
) -> list[Period]:
    """From the first attempt within `SPAN` to now, all in order of time. `resets` are by question,
    and so is `par`, in minutes; what it lacks has left the bank, and no recall is predicted of
    it."""
    months = by_months(attempts, now)
    sittings: dict[date, list[list[Attempt]]] = defaultdict(list)
    for one in _sittings(_recent(attempts, now)):
        sittings[_start(_day(one[0].at), months)].append(one)
    memory = _memory([review for review in reviews if review.question in par], resets)
    found: list[Period] = []
    start = min(sittings, default=None)
    while start is not None and start <= _day(now):
        end = _start(start + timedelta(days=32 if months else 7), months)
        moment = min(datetime.combine(end, time()).astimezone(), now)
        mine = sittings[start]
        paces = [
            min(last.seconds, counts.LONGEST) / (60 * par[last.question])
            for *_, last in mine
            if last.verdict == "passed" and last.seconds is not None and last.question in par
        ]
        predicted = [recall for states in memory if (recall := _recall(states, moment)) is not None]
        found.append(
            Period(
                start=start,
                sittings=len(mine),
                first_tries=sum(one[0].verdict == "passed" for one in mine),
                pace=median(paces) if paces else None,
                recall=sum(predicted) / len(predicted) if predicted else None,
            )
        )
        start = end
    return found


def _day(moment: datetime) -> date:
    return moment.astimezone().date()


def _start(day: date, months: bool) -> date:
    return day.replace(day=1) if months else day - timedelta(days=day.weekday())


def _sittings(attempts: Sequence[Attempt]) -> list[list[Attempt]]:
    """What was judged, of one question each, from one stretch of work."""
    last: dict[str, list[Attempt]] = {}
    found = []
    for attempt in attempts:
        if attempt.verdict in NO_FAILURE and attempt.verdict != "passed":
            continue
        on = last.get(attempt.question)
        if on and on[-1].verdict != "passed" and attempt.at - on[-1].at < schedule.ONE_SITTING:
            on.append(attempt)
        elif not on or attempt.at - on[-1].at >= schedule.ONE_SITTING:  # else it is practice
            last[attempt.question] = [attempt]
            found.append(last[attempt.question])
    return found


States = list[tuple[datetime, float | None]]


def _memory(reviews: Sequence[Review], resets: Mapping[str, Sequence[datetime]]) -> list[States]:
    """Of each question, FSRS's stability from a moment on; None after a reset."""
    by_question: dict[str, list[Review]] = defaultdict(list)
    for review in reviews:
        by_question[review.question].append(review)
    found = []
    for question, mine in by_question.items():
        states: States = [(reset, None) for reset in resets.get(question, ())]
        bounds = [None, *sorted(resets.get(question, ())), None]
        for after, until in pairwise(bounds):
            live = [
                review
                for review in mine
                if (after is None or review.at > after) and (until is None or review.at <= until)
            ]
            if live:
                states += zip((r.at for r in live), schedule.stabilities(live), strict=True)
        found.append(sorted(states, key=lambda state: state[0]))
    return found


def _recall(states: States, moment: datetime) -> float | None:
    past = [state for state in states if state[0] <= moment]
    if not past or past[-1][1] is None:
        return None
    return schedule.recall_at(past[-1][1], past[-1][0], moment)


def mistakes(occasions: Sequence[Occasion], attempts: Sequence[Attempt], count: int) -> list[Made]:
    """The `count` made most often, the commonest first."""
    made: dict[str, list[Occasion]] = defaultdict(list)
    for occasion in occasions:
        made[occasion.title].append(occasion)
    commonest = sorted(made, key=lambda title: (-len(made[title]), title))[:count]
    found = []
    for title in commonest:
        where = {occasion.question for occasion in made[title]}
        last = clock.from_text(made[title][-1].at)
        found.append(
            Made(
                title=title,
                days=tuple(_day(clock.from_text(occasion.at)) for occasion in made[title]),
                tries_since=sum(a.question in where and a.at > last for a in attempts),
            )
        )
    return found
