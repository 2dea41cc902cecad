"""A study plan to the date of an interview: which problems on which day, within so many hours a
week. Pure functions over what is known of each question; days are counted from today, which is 0.

Reviews come on the days on which FSRS brings them back, and what is new after what it builds on;
which of the two comes first on a day that has not time for both is tried, for it depends on the
time there is which gives the higher predicted recall on the date. The last days are for review
and one mock interview: there a review is worth what it adds to that recall.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice

from drills.memory import Memory, passed, recall

BAR = 0.9  # predicted recall on the date under which a question is reviewed in the last days
MOCK = 45  # minutes
LONGEST_DAY = 60  # minutes, where three days' share is less
STEP = 0.5  # hours a week
MOST_HOURS = 80.0
MOST_DAYS = 366


@dataclass(frozen=True)
class Item:
    """A question. `minutes` are what it takes while it is new, `review` what a review takes;
    `follows` are the questions that it builds on; `worth` is that of knowing it on the date;
    `memory` is None before the first review, and after a reset."""

    id: str
    minutes: int
    review: int
    worth: float = 1.0
    follows: tuple[str, ...] = ()
    memory: Memory | None = None
    passed: bool = False

    @property
    def new(self) -> bool:
        return self.memory is None


@dataclass(frozen=True)
class Frame:
    """The time there is: `days` until the date; `into` the current week, so many days of it are
    gone. `spent` minutes of its hours were used on those, and `done` today. The last `calm` days
    take nothing new."""

    days: int
    into: int = 0
    spent: float = 0.0
    done: float = 0.0
    calm: int = 0
    mock: bool = True

    def week(self, day: int) -> int:
        """The number of the week that `day` lies in, the current one being 0."""
        return (self.into + day) // 7

    def whole(self, day: int, hours: float) -> float:
        """Minutes of the week that `day` lies in; a last one that is cut short has less."""
        begin = 7 * self.week(day) - self.into
        return hours * 60 * (min(begin + 7, self.days) - begin) / 7

    def room(self, day: int, hours: float) -> float:
        """Minutes that its week may have used by the end of `day`: an even share for each day so
        far, and one in advance, so that a long problem need not wait. Who is behind makes up for
        it over the rest of the week."""
        whole = self.whole(day, hours)
        begin = 7 * self.week(day) - self.into
        first, end = max(0, begin), min(begin + 7, self.days)
        spent = 0.0 if begin > 0 else min(self.spent, whole)
        even = whole * min(1.0, (day - begin + 2) / (end - begin))
        rest = (whole - spent) * min(1.0, (day - first + 2) / (end - first))
        return min(even, spent + rest)


@dataclass(frozen=True)
class Task:
    """`kind` is "review", "new" or "mock", whose `question` is ""."""

    day: int
    kind: str
    question: str
    minutes: int


@dataclass(frozen=True)
class Plan:
    """`left_out`: what is new and found no time, the least worth first; `recall`: the mean
    predicted recall on the date over all questions, `unaided` without any work until then."""

    tasks: tuple[Task, ...]
    left_out: tuple[str, ...]
    recall: float
    unaided: float
    complete: bool = False
    hours: float = field(default=0.0, compare=False)

    @cached_property
    def new(self) -> int:
        return sum(task.kind == "new" for task in self.tasks)


def calm_days(days: int) -> int:
    """How many of the last days of a plan over `days` are kept free of what is new."""
    return min(5, days // 3)


def make(items: Sequence[Item], frame: Frame, hours: float) -> Plan:
    """The plan for `hours` a week, a multiple of STEP; `items` in teaching order.

    More hours never give fewer new problems or a lower recall: the plans for fewer hours are open
    to the learner too, and one gives way only to one that is no worse in either.
    """
    within = round(hours / STEP)
    return list(islice(_plans(items, frame), within))[-1]


def hours_for_everything(items: Sequence[Item], frame: Frame) -> float | None:
    """The hours a week with which nothing is left out; None for more than MOST_HOURS."""
    return next((plan.hours for plan in _plans(items, frame) if plan.complete), None)


def _plans(items: Sequence[Item], frame: Frame) -> Iterator[Plan]:
    """The best plan for each multiple of STEP, until nothing is left to add."""
    best = draft(items, frame, STEP)
    for count in range(1, round(MOST_HOURS / STEP) + 1):
        for eager in (False, True):
            other = draft(items, frame, count * STEP, eager)
            if not best.complete and other.new >= best.new and other.recall >= best.recall:
                best = other
        yield best
        if best.complete:
            return


def draft(items: Sequence[Item], frame: Frame, hours: float, eager: bool = False) -> Plan:
    """One way to use `hours` a week: day by day the reviews that are due, then what is new; or the
    other way round, where `eager`."""
    return _Draft(items, frame, hours).plan(eager)


def path(items: Sequence[Item]) -> list[Item]:
    """What is new, in the order in which it is taken: by worth, then as taught, each question
    after those that it builds on."""
    by_id = {item.id: item for item in items}
    places = {item.id: place for place, item in enumerate(items)}
    order: dict[str, Item] = {}

    def add(item: Item) -> None:
        if item.id in order or not item.new:
            return
        for before in sorted(set(item.follows) & set(by_id), key=places.__getitem__):
            if places[before] < places[item.id]:
                add(by_id[before])
        order[item.id] = item

    for item in sorted(items, key=lambda item: -item.worth):
        add(item)
    return list(order.values())


class _Draft:
    def __init__(self, items: Sequence[Item], frame: Frame, hours: float) -> None:
        self.items = items
        self.frame = frame
        self.hours = hours
        self.memories = {item.id: item.memory for item in items if item.memory is not None}
        self.ready = {item.id for item in items if item.passed}
        self.waiting = path(items)
        self.mock = frame.mock
        self.used = frame.spent + frame.done  # of the week
        self.today = frame.done  # of the day
        self.tasks: list[Task] = []

    def plan(self, eager: bool) -> Plan:
        days = self.frame.days
        before = dict(self.memories)
        for day in range(days):
            if day:
                self.today = 0.0
                if self.frame.week(day) != self.frame.week(day - 1):
                    self.used = 0.0
            last = day >= days - max(1, self.frame.calm)
            if self.mock and last and self._take(day, "mock", "", MOCK):
                self.mock = False
            if not eager:
                self._review(day, last)
            if day < days - self.frame.calm:
                self._begin(day)
            if eager:
                self._review(day, last)
        left = sorted(enumerate(self.waiting), key=lambda one: (one[1].worth, -one[0]))
        safe = all(recall(memory, days) >= BAR for memory in self.memories.values())
        return Plan(
            tasks=tuple(self.tasks),
            left_out=tuple(item.id for _, item in left),
            recall=self._mean(self.memories),
            unaided=self._mean(before),
            complete=not left and not self.mock and safe,
            hours=self.hours,
        )

    def _mean(self, memories: Mapping[str, Memory]) -> float:
        total = sum(recall(memory, self.frame.days) for memory in memories.values())
        return total / max(1, len(self.items))

    def _take(self, day: int, kind: str, question: str, minutes: int) -> bool:
        """Put it on `day` where there is time for it. The mock interview may take what the week
        has left: the other days then have less."""
        within = self.frame.whole if kind == "mock" else self.frame.room
        most = max(LONGEST_DAY, 3 * self.hours * 60 / 7)
        if self.today + minutes > most or self.used + minutes > within(day, self.hours):
            return False
        self.today += minutes
        self.used += minutes
        self.tasks.append(Task(day, kind, question, minutes))
        return True

    def _review(self, day: int, last: bool) -> None:
        due = []
        for item in self.items:
            memory = self.memories.get(item.id)
            if memory is None or memory.day >= day:
                continue
            if memory.due <= day or (last and recall(memory, self.frame.days) < BAR):
                due.append((self._rank(item, memory, day), item, memory))
        for _, item, memory in sorted(due, key=lambda one: one[0]):
            if self._take(day, "review", item.id, item.review):
                self.memories[item.id] = passed(memory, day)
                self.ready.add(item.id)

    def _rank(self, item: Item, memory: Memory, day: int) -> tuple[bool, float]:
        """First what lasts until the date, then what gains most a minute there."""
        after = recall(passed(memory, day), self.frame.days)
        gain = item.worth * (after - recall(memory, self.frame.days))
        return after < BAR, -gain / item.review

    def _begin(self, day: int) -> None:
        known = {item.id for item in self.items}
        for item in list(self.waiting):
            if any(before in known and before not in self.ready for before in item.follows):
                continue
            if item.minutes > self.hours * 60:
                continue  # never: those after it need not wait
            if not self._take(day, "new", item.id, item.minutes):
                return
            self.waiting.remove(item)
            self.ready.add(item.id)
            self.memories[item.id] = passed(None, day)
