"""What the interviewer asks next: decided from the answers so far, the clock and the seed alone.

Within a round a follow-up probes what was missed, or goes on from what was passed; the level of
the next round's question rises after a pass and falls after a miss.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

from drills.mock import roles
from drills.mock.roles import Role, Round
from drills.mock.state import MISSED, PASSED, Item, State

Bank = Mapping[str, Mapping[str, Any]]

FIRST_LEVEL, LEVELS = 2, (1, 4)
_FOLLOW_UPS = 2  # to one question; code goes on in the same file as long as there is time
_ROOTS = 4  # a round has no more questions than this, those aside that follow one up
_OVER = 0.1  # of the whole time: how late code may end for the sake of the next step of it
_TIGHT = 0.7  # of its par: with less time left a question is not begun


@dataclass(frozen=True)
class Step:
    """What to ask next, in which round, at what par (seconds). `after` is the number of the item
    that it follows up, `says` how to lead over, and `same_file` that its code goes on there."""

    question: str
    round: str
    par: float
    after: int | None = None
    says: str = ""
    same_file: bool = False


def target_level(items: tuple[Item, ...]) -> int:
    """The level at which to ask: up after a pass at the first try without hints, down after a
    miss."""
    level = FIRST_LEVEL
    for item in items:
        if item.outcome == PASSED and not item.hints and len(item.tries) == 1:
            level += 1
        elif item.outcome == MISSED and not _nearly(item):
            level -= 1
        level = min(max(level, LEVELS[0]), LEVELS[1])
    return level


def _nearly(item: Item) -> bool:
    best = item.best
    return best is not None and best.score >= 0.5


def next_step(state: State, bank: Bank, used: float) -> Step | None:
    """What to ask once `used` seconds are gone; None where the interview is over."""
    role = roles.ROLES[state.role]
    total = state.minutes * 60.0
    ends = roles.agenda(state.minutes)
    names = [part.name for part, _ in ends]
    place = names.index(state.items[-1].round) if state.items else 0
    if state.items:
        kept = total - _needed(bank, role, ends[place + 1 :])
        over = _OVER * total if ends[place][0] is roles.CODE else 0.0
        found = _follow_up(state, bank, used, min(ends[place][1] + over, kept))
        if found is not None:
            return found
    for here in range(place, len(ends)):
        part, end = ends[here]
        kept = total - _needed(bank, role, ends[here + 1 :])
        roots = sum(item.round == part.name and item.after is None for item in state.items)
        if roots >= (1 if part in (roles.WARM_UP, roles.CODE) else _ROOTS):
            continue
        found = _root(state, bank, role, part, min(end, kept) - used, total - used, roots > 0)
        if found is not None:
            return found
    return None


def _needed(bank: Bank, role: Role, rounds: Sequence[tuple[Round, float]]) -> float:
    """The seconds that the `rounds` to come take at least."""
    shortest = 0.0
    for part, _ in rounds:
        fitting = [q["minutes"] for q in bank.values() if _belongs(q, part, role)]
        shortest += 60.0 * min(fitting, default=0)
    return shortest


def _belongs(question: Mapping[str, Any], part: Round, role: Role) -> bool:
    topic = question["topic"]
    fits = topic in role.topics and (topic in part.topics or not part.topics)
    return question["kind"] in part.kinds and fits


def _follow_up(state: State, bank: Bank, used: float, end: float) -> Step | None:
    """What follows the last answer up, and can be done by `end`."""
    last = state.items[-1]
    if last.outcome not in (PASSED, MISSED):
        return None
    asked = {item.question for item in state.items}
    chain = _chain(state, last)
    for edge in bank.get(last.question, {}).get("follow_ups") or ():
        question = bank.get(edge["ask"])
        if question is None or edge["ask"] in asked or not _fits(edge, last):
            continue
        code = roles.is_code(question["kind"])
        goes_on = bool(edge.get("same_file"))
        if code and not goes_on:
            continue  # another round's business
        if not goes_on and chain >= _FOLLOW_UPS:
            continue
        par = 60.0 * (edge.get("minutes") or question["minutes"])
        if used + par > end:
            continue
        return Step(edge["ask"], last.round, par, last.number, edge["says"], goes_on)
    return None


def _fits(edge: Mapping[str, Any], item: Item) -> bool:
    if edge["on"] != item.outcome:
        return False
    of = edge.get("of") or ()
    return not of or not item.troubles.isdisjoint(of)


def _chain(state: State, item: Item) -> int:
    """How many follow-ups led to `item`, those not counted that go on in one file."""
    length = 0
    while item.after is not None:
        before = state.item(item.after)
        length += not (item.file and item.file == before.file)
        item = before
    return length


def _root(
    state: State,
    bank: Bank,
    role: Role,
    part: Round,
    share_left: float,
    left: float,
    begun: bool,
) -> Step | None:
    """The first question of a round, or one more of it where there is time."""
    asked = {item.question for item in state.items}
    fitting = [
        identifier
        for identifier, question in bank.items()
        if identifier not in asked
        and _belongs(question, part, role)
        and 60.0 * question["minutes"] * (1.0 if begun else _TIGHT)
        <= (share_left if begun else left)
    ]
    if not fitting:
        return None
    if part is roles.CODE:
        starts = [identifier for identifier in role.starts if identifier in fitting]
        roomy = [i for i in starts if 60.0 * bank[i]["minutes"] <= share_left]
        chosen = (roomy or starts[-1:] or [min(fitting, key=lambda i: _shortest(bank, i))])[0]
        return Step(chosen, part.name, 60.0 * bank[chosen]["minutes"])
    within = [i for i in fitting if 60.0 * bank[i]["minutes"] * _TIGHT <= share_left]
    if not within:
        within = [min(fitting, key=lambda i: _shortest(bank, i))]
    level = target_level(state.items)
    chance = Random(f"{state.seed}/{len(state.items)}/{part.name}")
    luck = {identifier: chance.random() for identifier in sorted(within)}
    topics_seen = {bank[item.question]["topic"] for item in state.items if item.question in bank}

    def rank(identifier: str) -> tuple[bool, bool, float, float]:
        question = bank[identifier]
        # What an asked question builds on, or is built on by, would say the same twice.
        same = any(
            identifier in (bank.get(other, {}).get("follows") or ())
            or other in (question.get("follows") or ())
            for other in asked
        )
        ticked = part is roles.WARM_UP and question["kind"] != part.kinds[0]  # tells no talk
        liking = role.topics.index(question["topic"]) / len(role.topics)
        seen = 0.5 if question["topic"] in topics_seen else 0.0
        far = abs(question["level"] - level)
        return (ticked, same, far, liking + seen + luck[identifier])

    chosen = min(within, key=rank)
    return Step(chosen, part.name, 60.0 * bank[chosen]["minutes"])


def _shortest(bank: Bank, identifier: str) -> tuple[int, str]:
    return (bank[identifier]["minutes"], identifier)
