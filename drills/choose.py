"""Which problem `drill next` serves: the unfinished one, else what is due, else what is new."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, TypeVar

from drills import clock, schedule, sitting
from drills.app import App, Question
from drills.errors import NOTHING_DUE, USAGE, DrillError
from drills.store import Attempt, Card, Event, Review

if TYPE_CHECKING:
    from drills import plan_facts

Fact = TypeVar("Fact", Attempt, Event)


@dataclass(frozen=True)
class Choice:
    question: Question
    reason: str  # "unfinished", "due" or "new"
    note: str  # for the learner


@dataclass(frozen=True)
class Standing:
    """Where the learner stands with one question. `status` is new, unfinished, due, learned,
    missed (the last sitting ended without a pass) or put off; `passed` is whether it was ever
    passed."""

    status: str
    passed: bool
    attempts: int
    sitting: sitting.Sitting
    last: datetime | None
    due: datetime | None


def standings(app: App) -> dict[str, Standing]:
    """Every question of the bank, in teaching order."""
    now = clock.now()
    cards = app.store.cards()
    facts = app.store.standing_facts()
    attempts = _by_question(facts.attempts)
    events = _by_question(facts.events)
    reviews = {review.question: review for review in facts.reviews}
    found = {}
    for question_id in app.index.order:
        last_review = reviews.get(question_id)
        on = sitting.current(
            attempts.get(question_id, []),
            [last_review] if last_review else [],
            events.get(question_id, []),
            now,
        )
        tried = facts.tried.get(question_id, (0, False, None))
        found[question_id] = _standing(cards.get(question_id), tried, last_review, on, now)
    return found


def _by_question(facts: list[Fact]) -> dict[str, list[Fact]]:
    groups: dict[str, list[Fact]] = {}
    for fact in facts:
        groups.setdefault(fact.question, []).append(fact)
    return groups


def _standing(
    card: Card | None,
    tried: tuple[int, bool, datetime | None],
    last_review: Review | None,
    on: sitting.Sitting,
    now: datetime,
) -> Standing:
    due = card.due if card else None
    if on.put_off_until is not None:
        status = "put off"
        due = max(due, on.put_off_until) if due else on.put_off_until
    elif on.unfinished:
        status = "unfinished"
    elif due is None:
        status = "new"
    elif due <= now:
        status = "due"
    else:
        missed = last_review is not None and last_review.rating == schedule.AGAIN
        status = "missed" if missed else "learned"
    return Standing(
        status=status,
        passed=tried[1],
        attempts=tried[0],
        sitting=on,
        last=tried[2],
        due=due,
    )


def choose(
    app: App,
    topic: str | None = None,
    kind: str | None = None,
    among: Callable[[Question], bool] = lambda question: True,
) -> Choice:
    """Raises DrillError: exit 2 for a filter that fits nothing, 5 where nothing is due or new."""
    questions = app.index.questions
    fitting = [
        question_id
        for question_id in app.index.order
        if (topic is None or questions[question_id]["topic"] == topic)
        and (kind is None or questions[question_id]["kind"] == kind)
        and among(questions[question_id])
    ]
    if not fitting:
        raise DrillError(f"No {kind} problem is on {topic}: drill list shows them all.", USAGE)
    found = standings(app)
    now = clock.now()

    unfinished = [i for i in fitting if found[i].status == "unfinished"]
    if unfinished:
        latest = app.store.last_begun(unfinished) or unfinished[0]
        return Choice(questions[latest], "unfinished", _unfinished_note(found[latest]))
    guide = _guide(app)
    advised = {event.question for event in app.store.events_named("advised")}

    def rank(question_id: str) -> tuple[bool, bool]:
        """Of a plan's day: reviews first, then what an interview advised and can be begun."""
        can = question_id in advised and not _waiting_for(questions[question_id], found)
        return found[question_id].due is None, not can

    for question_id in sorted(guide.today, key=rank) if guide is not None else ():
        if question_id in fitting and found[question_id].status != "put off":
            if found[question_id].due is not None:
                note = _due_note(app, question_id, found[question_id], now)
                return Choice(questions[question_id], "due", note)
            return _new(questions[question_id], advised)
    due = [i for i in fitting if found[i].status == "due"]
    if guide is not None and not due:
        due = [i for i in fitting if i in guide.early and found[i].status in ("learned", "missed")]
    if due:
        first = min(due, key=lambda i: found[i].due or now)
        return Choice(questions[first], "due", _due_note(app, first, found[first], now))
    new = [i for i in fitting if found[i].status == "new"]
    if guide is not None:
        new = [i for i in guide.order if i in new]
    ready = [i for i in new if not _waiting_for(questions[i], found)]
    for question_id in [*(i for i in ready if i in advised), *ready]:
        return _new(questions[question_id], advised)
    if new:
        # What comes before was put off, or lies outside the filter: better served than refused.
        missing = ", ".join(_waiting_for(questions[new[0]], found))
        return Choice(questions[new[0]], "new", f"builds on {missing}, not passed yet")
    raise DrillError(_nothing(fitting, found, now, bool(topic or kind)), NOTHING_DUE)


def _new(question: Question, advised: set[str]) -> Choice:
    note = "advised after your mock interview" if question["id"] in advised else ""
    return Choice(question, "new", note)


def _guide(app: App) -> plan_facts.Guide | None:
    """What a plan that is on has to say."""
    if not app.store.events("plan"):
        return None
    from drills import plan_facts

    return plan_facts.guide(app)


def _waiting_for(question: Question, found: dict[str, Standing]) -> list[str]:
    return [i for i in question.get("follows") or () if i in found and not found[i].passed]


def _unfinished_note(standing: Standing) -> str:
    tries = standing.sitting.attempts
    return "unfinished: " + (
        "served before, not tried yet" if not tries else f"{tries} tr{'y' if tries == 1 else 'ies'}"
    )


def _due_note(app: App, question_id: str, standing: Standing, now: datetime) -> str:
    if standing.last is None:
        return "due again"
    note = f"due again: last time {clock.in_words(now - standing.last)} ago"
    reviews = app.store.reviews(question_id)
    if reviews:
        note += f", {reviews[-1].reason}"
    mistake = app.store.last_mistake(question_id)
    return note + (f" ({mistake})" if mistake else "")


def _nothing(fitting: list[str], found: dict[str, Standing], now: datetime, filtered: bool) -> str:
    dues = sorted((due, i) for i in fitting if (due := found[i].due) is not None)
    due, question_id = dues[0]
    scope = " there" if filtered else ""
    return f"Nothing is due{scope}: {question_id} comes back {clock.when(due, now)}."
