"""The plan that the learner is on, made anew each time from what was recorded."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from functools import cached_property
from math import ceil
from statistics import median

from drills import clock
from drills.app import App, Question
from drills.memory import Memory, recall
from drills.mock import history
from drills.mock.roles import ROLES
from drills.plan import (
    BAR,
    MOST_HOURS,
    STEP,
    Frame,
    Item,
    Plan,
    Task,
    calm_days,
    hours_for_everything,
    make,
    path,
)
from drills.store import Attempt
from questions.kinds import CODE_KINDS

QUESTION = "plan"  # in the events; no question of a bank is called so
_NEW_CODE = 1.5  # times par, until the learner's own pace is known
_LEAST, _MOST = 0.5, 3.0
_ENOUGH = 3  # passes by which a pace is known
_BEHIND = 20.0  # minutes that are not worth a word


@dataclass(frozen=True)
class Aim:
    """What is planned for: the date, the hours a week, the role ("" for none), and since when."""

    until: date
    hours: float
    role: str
    since: date

    @property
    def calm(self) -> int:
        return calm_days((self.until - self.since).days)


@dataclass(frozen=True)
class Standing:
    """The plan today. `done` are today's tasks that are done; `behind` the minutes that the days
    before left of this week's share."""

    aim: Aim
    today: date
    plan: Plan
    done: tuple[Task, ...]
    behind: float
    items: list[Item]
    frame: Frame

    @property
    def days(self) -> int:
        return (self.aim.until - self.today).days

    @cached_property
    def everything(self) -> float | None:
        """The hours a week that would leave nothing out; None for more than a week has."""
        return hours_for_everything(self.items, self.frame)

    def minutes(self, *questions: str) -> int:
        return sum(item.minutes for item in self.items if item.id in questions)


def aim(app: App) -> Aim | None:
    """The plan that is on, if its date lies ahead or is today."""
    for event in reversed(app.store.events(QUESTION)):
        if event.name == "cleared":
            return None
        if event.name == "planned":
            detail = event.detail
            try:
                until = date.fromisoformat(str(detail["until"]))
                hours = float(str(detail["hours"]))
            except (KeyError, ValueError):  # of an import, or of a later drill
                continue
            role = str(detail.get("role") or "")
            if STEP <= hours <= MOST_HOURS:
                return Aim(until, hours, role if role in ROLES else "", local(event.at))
    return None


def remember(app: App, chosen: Aim) -> None:
    detail: dict[str, object] = {
        "until": chosen.until.isoformat(),
        "hours": chosen.hours,
        "role": chosen.role,
    }
    app.note(QUESTION, "planned", detail=detail)


def local(moment: datetime) -> date:
    return moment.astimezone().date()


def standing(app: App, chosen: Aim) -> Standing:
    today = local(clock.now())
    found = items(app, chosen, today)
    into = max(0, (today - chosen.since).days) % 7  # the clock may be set back
    reviewed = _reviewed(app, found, today)
    done = tuple(task for task in reviewed if task.day == 0)
    spent = float(sum(task.minutes for task in reviewed if -into <= task.day < 0))
    frame = Frame(
        days=(chosen.until - today).days,
        into=into,
        spent=spent,
        done=float(sum(task.minutes for task in done)),
        calm=chosen.calm,
        mock=not _mock_done(app, chosen),
    )
    behind = chosen.hours * 60 * into / 7 - spent
    plan = make(found, frame, chosen.hours)
    late = behind >= _BEHIND and bool(plan.tasks)
    return Standing(
        aim=chosen,
        today=today,
        plan=plan,
        done=done,
        behind=behind if late else 0.0,
        items=found,
        frame=frame,
    )


def items(app: App, chosen: Aim, today: date) -> list[Item]:
    """The bank as the plan sees it, in teaching order."""
    questions = app.index.questions
    attempts = app.store.attempts()
    done = {attempt.question for attempt in attempts if attempt.verdict == "passed"}
    pace = {code: _pace(attempts, questions, code) for code in (True, False)}
    known = memories(app, today)
    found = []
    for question_id in app.index.order:
        question = questions[question_id]
        measured = pace[question["kind"] in CODE_KINDS]
        usual = _NEW_CODE if question["kind"] in CODE_KINDS else 1.0
        par = int(question["minutes"])
        found.append(
            Item(
                id=question_id,
                minutes=ceil(par * (measured or usual)),
                review=ceil(par * (measured or 1.0)),
                worth=_worth(question, chosen.role),
                follows=tuple(question.get("follows") or ()),
                memory=known.get(question_id),
                passed=question_id in done,
            )
        )
    return found


def memories(app: App, today: date) -> dict[str, Memory]:
    """By question, of all that were ever reviewed."""
    found = {}
    for question, form in app.store.fsrs_cards().items():
        card = json.loads(form)
        last = local(datetime.fromisoformat(card["last_review"]))
        due = local(datetime.fromisoformat(card["due"]))
        found[question] = Memory(
            float(card["stability"]),
            float(card["difficulty"]),
            (last - today).days,
            (due - today).days,
        )
    return found


@dataclass(frozen=True)
class Guide:
    """What a plan changes in `drill next`. `today`: what is left of today's share, reviews first;
    `early`: in its last days, the questions that will not be recalled on its date unless they are
    reviewed once more; `order`: the path to what is new."""

    today: list[str]
    early: frozenset[str]
    order: list[str]


def guide(app: App) -> Guide | None:
    """None where no plan is on, or its day has come."""
    chosen = aim(app)
    today = local(clock.now())
    if chosen is None or chosen.until <= today:
        return None
    now = standing(app, chosen)
    early = frozenset(
        item.id
        for item in now.items
        if now.days <= max(1, chosen.calm)
        and item.memory is not None
        and item.memory.day < 0
        and recall(item.memory, now.days) < BAR
    )
    share = sorted(
        (task for task in now.plan.tasks if task.day == 0 and task.question),
        key=lambda task: task.kind != "review",
    )
    return Guide([task.question for task in share], early, [item.id for item in path(now.items)])


def _worth(question: Question, role: str) -> float:
    """What is asked most, first: the role's topics, and of these what is basic."""
    wanted = not role or question["topic"] in ROLES[role].core
    return (2.0 if wanted else 1.0) * (5 - int(question["level"])) / 4


def _pace(
    attempts: Sequence[Attempt], questions: Mapping[str, Question], code: bool
) -> float | None:
    """How many times par the learner takes: the median over passes, None for too few."""
    times = [
        attempt.seconds / 60 / int(questions[attempt.question]["minutes"])
        for attempt in attempts
        if attempt.verdict == "passed"
        and attempt.seconds is not None
        and attempt.question in questions
        and (questions[attempt.question]["kind"] in CODE_KINDS) == code
    ]
    if len(times) < _ENOUGH:
        return None
    return min(_MOST, max(_LEAST, median(times)))


def _reviewed(app: App, found: Sequence[Item], today: date) -> list[Task]:
    """The work of the past, as the plan counts it; the first review of a question was new."""
    by_id = {item.id: item for item in found}
    tasks, seen = [], set()
    for review in app.store.reviews():
        item = by_id.get(review.question)
        if item is None:
            continue
        kind = "review" if item.id in seen else "new"
        seen.add(item.id)
        minutes = item.review if kind == "review" else item.minutes
        tasks.append(Task((local(review.at) - today).days, kind, item.id, minutes))
    return tasks


def _mock_done(app: App, chosen: Aim) -> bool:
    """Whether the last days have had their mock interview."""
    first = chosen.until - timedelta(days=max(1, chosen.calm))
    return any(local(interview.at) >= first for interview in history.finished(app))
