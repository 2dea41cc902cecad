"""An interview as the recorded events tell it. Nothing else about it is stored, so that it can be
gone on with after any end: `fold` gives the same state on every machine."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from drills.mock.roles import ROLES
from drills.store import Event

BEGAN, ASKED, TRIED, HINTED = "began", "asked", "tried", "hinted"
DRAFTED, CLOSED, JUDGED = "drafted", "closed", "judged"
PAUSED, RESUMED, ENDED = "paused", "resumed", "ended"
PASSED, MISSED, SKIPPED, OUT_OF_TIME = "passed", "missed", "skipped", "out of time"


@dataclass(frozen=True)
class Try:
    """One graded answer. `troubles` are ids: mistakes that were named, and parts that were not
    right. `attempt` is the attempt's uuid; `at` is in seconds of the interview."""

    attempt: str
    verdict: str
    score: float
    troubles: tuple[str, ...]
    at: float


@dataclass(frozen=True)
class Item:
    """One question that was asked. Times are in seconds of the interview; `par` is in seconds.

    `after` is the number of the item that this one follows up, and `says` how the interviewer led
    over. `file` holds the code, and `outcome` is "" until the item is closed. `said` are the parts
    that no rule decides, with whether the learner found them said. `draft` is what was typed of an
    answer that is not whole yet; `named` are the mistakes that a hint gave away.
    """

    number: int
    question: str
    seed: int
    round: str
    level: int
    par: float
    at: float
    after: int | None = None
    says: str = ""
    file: str = ""
    tries: tuple[Try, ...] = ()
    hints: int = 0
    outcome: str = ""
    closed: float = 0.0
    said: tuple[tuple[str, bool], ...] = ()
    draft: tuple[tuple[str, str], ...] = ()
    named: tuple[str, ...] = ()

    @property
    def seconds(self) -> float:
        return max(0.0, self.closed - self.at) if self.outcome else 0.0

    @property
    def best(self) -> Try | None:
        return max(self.tries, key=lambda one: (one.verdict == "passed", one.score), default=None)

    @property
    def troubles(self) -> frozenset[str]:
        """What went wrong in the last try."""
        return frozenset(self.tries[-1].troubles) if self.tries else frozenset()


@dataclass(frozen=True)
class State:
    """`used` are the seconds on the clock at the last event; `ended` says why it is over, or ""."""

    id: str
    role: str
    minutes: int
    seed: int
    began: datetime
    items: tuple[Item, ...] = ()
    used: float = 0.0
    last: datetime | None = None
    ended: str = ""
    debriefed: bool = False
    log: tuple[tuple[float, str], ...] = field(default=())  # pauses, as (seconds, name)

    @property
    def open(self) -> Item | None:
        """The item that waits for its answer."""
        last = self.items[-1] if self.items else None
        return last if last is not None and not last.outcome else None

    def item(self, number: int) -> Item:
        return self.items[number - 1]


def fold(interview: str, events: Iterable[Event]) -> State | None:
    """The state after `events`, all of one interview in order of time; None for none that began, or
    that this drill can read."""
    state: State | None = None
    try:
        for event in events:
            if event.name == BEGAN:
                state = _begun(interview, event)
            elif state is not None:
                state = _after(state, event)
    except (KeyError, TypeError, ValueError, AttributeError):
        return None  # imported from a later drill, or written by another program
    return state


def _begun(interview: str, event: Event) -> State:
    detail: dict[str, Any] = event.detail
    role, minutes = detail["role"], detail["minutes"]
    if role not in ROLES or not isinstance(minutes, int):
        raise ValueError(f"no interview of {minutes} minutes for {role}")
    return State(interview, role, minutes, event.seed or 0, event.at)


def _after(state: State, event: Event) -> State:
    detail: dict[str, Any] = event.detail
    used = float(detail.get("used", state.used))
    state = replace(state, used=max(state.used, used), last=event.at)
    if event.name == ASKED:
        item = Item(
            number=len(state.items) + 1,
            question=detail["asked"],
            seed=event.seed or 0,
            round=detail["round"],
            level=detail["level"],
            par=detail["par"],
            at=used,
            after=detail["after"],
            says=detail["says"],
            file=detail["file"],
        )
        return replace(state, items=(*state.items, item))
    if event.name in (PAUSED, RESUMED):
        return replace(state, log=(*state.log, (used, event.name)))
    if event.name == ENDED:
        return replace(state, ended=detail["why"])
    if event.name == "debriefed":
        return replace(state, debriefed=True)
    number = detail.get("number", 0)
    if not 1 <= number <= len(state.items):
        return state
    item = _changed(state.items[number - 1], event.name, detail, used)
    return replace(state, items=(*state.items[: number - 1], item, *state.items[number:]))


def _changed(item: Item, name: str, detail: dict[str, Any], used: float) -> Item:
    if name == TRIED:
        one = Try(
            detail["attempt"], detail["verdict"], detail["score"], tuple(detail["troubles"]), used
        )
        return replace(item, tries=(*item.tries, one))
    if name == DRAFTED:
        return replace(item, draft=tuple(detail["draft"].items()))
    if name == HINTED:
        named = detail.get("named")
        return replace(
            item, hints=item.hints + 1, named=(*item.named, named) if named else item.named
        )
    if name == CLOSED:
        return replace(item, outcome=detail["outcome"], closed=used)
    if name == JUDGED:  # the learner settled what no rule decides
        last = replace(
            item.tries[-1],
            verdict=detail["verdict"],
            score=detail["score"],
            troubles=tuple(detail["troubles"]),
        )
        return replace(item, tries=(*item.tries[:-1], last), said=tuple(detail["said"].items()))
    return item
