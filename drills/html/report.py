"""The page of `drill report`: its facts, its sentences, and its pictures."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from datetime import date, datetime, timedelta
from typing import Any

from drills import choose, clock, curves, progress
from drills.app import App
from drills.html import charts, page
from drills.mock import history
from drills.store import Attempt, counts

MISTAKES, INTERVIEWS, NEXT = 8, 12, 12
Rows = list[tuple[Any, ...]]


def build(app: App) -> str:
    """The HTML of the whole report. An empty history gives a page that says where to begin."""
    now = clock.now()
    measured = progress.measure(app)
    interviews = history.finished(app)
    if not measured.attempts and not interviews:
        return page("Progress", "report", progress=measured, empty=True)
    attempts = app.store.attempts()
    facts: dict[str, Any] = {
        "days": _days(app, now),
        "topics": _topics(measured),
        "learning": _learning(app, attempts, now),
        "mistakes": _mistakes(app, attempts, now),
        "interviews": _interviews(interviews),
        "coming": _coming(app, now),
    }
    headings = {
        "days": "Days of practice",
        "topics": "Topics, in the order of the path",
        "learning": "Learning",
        "mistakes": "Mistakes",
        "interviews": "Mock interviews",
        "coming": "What is due next",
    }
    return page(
        "Progress",
        "report",
        progress=measured,
        empty=False,
        hours=measured.seconds / 3600,
        sections=[(name, heading) for name, heading in headings.items() if facts[name]],
        headings=headings,
        **facts,
    )


def _days(app: App, now: datetime) -> dict[str, Any]:
    today = now.astimezone().date()
    found = {date.fromisoformat(day.date): day for day in counts.days(app.store)}
    year = {d: day for d, day in found.items() if d > today - timedelta(weeks=charts.WEEKS)}
    if not year:
        return {}
    best = max(year.values(), key=lambda day: day.attempts)
    words = (
        f"{_count(sum(d.attempts for d in year.values()), 'try', 'tries')} on "
        f"{_count(len(year), 'day')} of the last year; the most, {best.attempts}, on {best.date}."
    )
    rows: Rows = [(day.date, day.attempts, day.passes) for day in reversed(year.values())]
    tries = {day: one.attempts for day, one in year.items()}
    return {"words": words, "picture": charts.days(tries, today, words), "rows": rows}


def _count(number: int, one: str, many: str = "") -> str:
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def _topics(measured: progress.Progress) -> dict[str, Any]:
    groups = measured.topics
    done = [group.name for group in groups if group.passed == group.questions]
    ahead = next((group for group in groups if group.passed < group.questions), None)
    words = f"{len(done)} of {_count(len(groups), 'topic')} passed whole. "
    if ahead is None:
        words += "That is the whole path."
    else:
        words += (
            f"The first on the path that is not: {ahead.name}, {ahead.passed} of {ahead.questions}."
        )
    rows: Rows = [
        (
            g.name,
            f"{g.passed} of {g.questions}",
            g.tried,
            g.due,
            _percent(g.recall),
            _share(g.kept, g.reviews),
        )
        for g in groups
    ]
    return {"words": words, "picture": charts.topics(groups, words), "rows": rows}


def _percent(share: float | None) -> str:
    return "–" if share is None else f"{share:.0%}"


def _share(part: int, whole: int) -> str:
    return f"{part / whole:.0%} of {whole}" if whole else "–"


def _learning(app: App, attempts: list[Attempt], now: datetime) -> dict[str, Any]:
    resets: dict[str, list[datetime]] = defaultdict(list)
    for event in app.store.events_named("reset"):
        resets[event.question].append(event.at)
    par = {i: int(question["minutes"]) for i, question in app.index.questions.items()}
    found = curves.periods(attempts, app.store.reviews(), resets, par, now)
    if not found:
        return {}
    months = curves.by_months(attempts, now)
    first = _trend("Passed at the first try", [
        p.first_tries / p.sittings if p.sittings else None for p in found
    ])  # fmt: skip
    recall = _trend("Predicted recall", [p.recall for p in found])
    timed = [p.pace for p in found if p.pace is not None]
    speed = _trend("Median time over par", timed, ".1f") if timed else ""
    rows: Rows = [
        (
            f"{p.start:%Y-%m}" if months else p.start.isoformat(),
            p.sittings,
            _percent(p.first_tries / p.sittings if p.sittings else None),
            _percent(p.recall),
            "–" if p.pace is None else f"{p.pace:.2f}",
        )
        for p in found
    ]
    words = " ".join(part for part in (first, recall) if part)
    return {
        "period": "month" if months else "week",
        "words": words,
        "picture": charts.learning(found, months, words),
        "pace_words": speed,
        "pace": charts.pace(found, months, speed) if timed else None,
        "rows": rows,
    }


def _trend(what: str, values: Iterable[float | None], form: str = ".0%") -> str:
    known = [value for value in values if value is not None]
    if not known:
        return ""
    if len(known) == 1:
        return f"{what}: {known[0]:{form}}."
    return f"{what}: from {known[0]:{form}} to {known[-1]:{form}}."


def _mistakes(app: App, attempts: list[Attempt], now: datetime) -> dict[str, Any]:
    since = clock.to_text(now - curves.SPAN)
    named = counts.occasions(app.store, progress.planted(app))
    occasions = [occasion for occasion in named if occasion.at > since]
    made = curves.mistakes(occasions, attempts, MISTAKES)
    if not made:
        return {}
    gone = sum(one.gone for one in made)
    words = (
        f"{_count(len(occasions), 'mistake')} named. Of the {len(made)} made most often, {gone} "
        f"gone since: not made in the last {curves.TRIES_TO_BE_GONE} tries or more at the same "
        "problems."
    )
    rows: Rows = [
        (
            one.title,
            len(one.days),
            one.days[0].isoformat(),
            one.days[-1].isoformat(),
            one.tries_since,
            "gone since" if one.gone else "may come back",
        )
        for one in made
    ]
    today = now.astimezone().date()
    return {"words": words, "picture": charts.mistakes(made, today, words), "rows": rows}


def _interviews(finished: list[history.Interview]) -> dict[str, Any]:
    if not finished:
        return {}
    shown = finished[-INTERVIEWS:]
    competencies = list(dict.fromkeys(name for one in shown for name in one.scores))
    last = shown[-1]
    words = (
        f"{_count(len(finished), 'mock interview')}; the last one, {last.role}: {last.conclusion}."
    )
    rows: Rows = [
        (
            f"{one.at.astimezone():%Y-%m-%d}, {one.role}, {round(one.seconds / 60)} of "
            f"{one.minutes} min",
            ", ".join(f"{name} {score:g}" for name, score in one.scores.items()),
            one.conclusion,
        )
        for one in shown
    ]
    return {
        "words": words,
        "picture": charts.interviews(shown, competencies, words) if competencies else None,
        "rows": rows,
    }


def _coming(app: App, now: datetime) -> dict[str, Any]:
    standings = choose.standings(app)
    recall = progress.predicted(app.store.cards(), now)
    dues = sorted((s.due, i) for i, s in standings.items() if s.due is not None)[:NEXT]
    rows: Rows = [
        (
            app.index.questions[i]["title"],
            i,
            clock.when(due, now),
            _percent(recall.get(i)),
        )
        for due, i in dues
    ]
    return {"rows": rows, "now": _due_now(standings)}


def _due_now(standings: Mapping[str, choose.Standing]) -> int:
    return sum(standing.status == "due" for standing in standings.values())
