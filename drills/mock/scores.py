"""Scores by competency, and what a hiring loop would conclude: docs/mock-rubric.md in numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from drills.mock.roles import COMPETENCIES, CORRECTNESS, PACE, Role
from drills.mock.state import OUT_OF_TIME, SKIPPED, Item

MOST = 5
HINT_PRICE = 0.15
RETRY_PRICE, MOST_FOR_RETRIES = 0.10, 0.20  # a pass is worth no less than what is nearly one
LEAST_FOR_A_PASS = 0.4
SHARE_OF_UNPASSED = 0.8  # of an answer's own score, where it is right in part
LEVEL_ONE_MOST = 4  # a question of level 1 is no evidence for more
PACES = ((1.0, 5), (1.15, 4), (1.4, 3), (1.8, 2))  # time over par, at most: the score
SLOWEST = 1
CONCLUSIONS = (
    (4.5, "strong hire"),
    (3.75, "hire"),
    (3.0, "lean hire"),
    (2.0, "lean no hire"),
    (0.0, "no hire"),
)
NO_WEAKNESS = 3  # a strong hire scores nowhere less
GATE = 1  # correctness no better than this is no hire
ENOUGH = 3  # competencies, pace aside, without which nothing is concluded
UNDECIDED = "no conclusion"


@dataclass(frozen=True)
class Judged:
    """An item with what its answer is evidence for. `right` is the answer's own share of what was
    asked, in [0, 1] (of a debugging drill: of the bugs); `told` says how it went."""

    item: Item
    competency: str
    right: float
    told: str


@dataclass(frozen=True)
class Score:
    """`score` is of MOST, None where nothing was seen; `evidence` are sentences."""

    competency: str
    score: int | None
    evidence: tuple[str, ...]


@dataclass(frozen=True)
class Conclusion:
    said: str
    why: str
    strength: str = ""
    worry: str = ""


def value(judged: Judged) -> float:
    """What an answer is worth, in [0, 1]."""
    item = judged.item
    if item.outcome == SKIPPED or not item.tries:
        return 0.0
    hints = HINT_PRICE * item.hints
    best = item.best
    if best is not None and best.verdict == "passed":
        retries = min(RETRY_PRICE * (len(item.tries) - 1), MOST_FOR_RETRIES)
        return max(LEAST_FOR_A_PASS, 1.0 - hints - retries)
    return max(0.0, judged.right * SHARE_OF_UNPASSED - hints)


def counts(judged: Judged) -> bool:
    """False for what was cut off by the end before anything was tried."""
    return judged.item.outcome != OUT_OF_TIME or bool(judged.item.tries)


def scores(judged: Sequence[Judged]) -> list[Score]:
    """Every competency, in their usual order."""
    counted = [one for one in judged if counts(one)]
    found = []
    for name in COMPETENCIES:
        if name == PACE:
            found.append(_pace(counted))
            continue
        here = [one for one in counted if one.competency == name]
        here.sort(key=value)  # what fell short first
        evidence = tuple(one.told for one in here)
        found.append(Score(name, _mean(here) if here else None, evidence))
    return found


def _mean(judged: Sequence[Judged]) -> int:
    """Weighted by level: what is harder says more."""
    weight = sum(one.item.level for one in judged)
    mean = sum(one.item.level * value(one) for one in judged) / weight
    most = MOST if any(one.item.level > 1 for one in judged) else LEVEL_ONE_MOST
    return min(most, int(MOST * mean + 0.5))


def _pace(judged: Sequence[Judged]) -> Score:
    timed = [one.item for one in judged if value(one) >= LEAST_FOR_A_PASS]
    if 2 * len(timed) < len(judged) or not timed:
        return Score(PACE, None, ())  # to be wrong at once, or to skip, is not quick
    par = sum(item.par for item in timed)
    ratio = sum(item.seconds for item in timed) / par
    found = next((score for most, score in PACES if ratio <= most), SLOWEST)
    evidence = [f"{ratio:.2f} times par over {len(timed)} answer{'s' if len(timed) > 1 else ''}"]
    slowest = max(timed, key=lambda item: item.seconds - item.par)
    over = slowest.seconds - slowest.par
    if over >= 30:
        evidence.append(f"{slowest.question} took {over / 60:.1f} min more than its par")
    return Score(PACE, found, tuple(evidence))


def conclude(found: Sequence[Score], role: Role) -> Conclusion:
    """What a loop for `role` would likely say."""
    seen: Mapping[str, int] = {one.competency: one.score for one in found if one.score is not None}
    core = {name: score for name, score in seen.items() if name != PACE}
    if len(core) < ENOUGH:
        count = f"{len(core)} competenc{'y was' if len(core) == 1 else 'ies were'} seen"
        return Conclusion(UNDECIDED, f"{count}; a loop wants at least {ENOUGH}, pace aside")
    weight = sum(role.weights[name] for name in seen)
    mean = sum(role.weights[name] * score for name, score in seen.items()) / weight
    said = next(name for least, name in CONCLUSIONS if mean >= least)
    why = f"{mean:.1f} of {MOST} on average, weighed for {role.name}"
    if said == "strong hire" and min(seen.values()) < NO_WEAKNESS:
        said, why = "hire", f"{why}; one score under {NO_WEAKNESS} keeps it from a strong hire"
    if seen.get(CORRECTNESS, MOST) <= GATE and said in ("strong hire", "hire", "lean hire"):
        said, why = "lean no hire", f"{why}; but code that does not work decides against it"
    strength = max(core, key=lambda name: (core[name], role.weights[name]))
    worry = min(seen, key=lambda name: (seen[name], -role.weights[name]))
    best = strength if core[strength] >= 4 else ""
    worst = worry if seen[worry] <= 3 else ""
    return Conclusion(said, why, best, worst)
