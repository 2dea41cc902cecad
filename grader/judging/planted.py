"""What has become of the bugs planted in the code of a debug question."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

from grader.judging.answers import Answer
from grader.judging.family import Family, Hypothesis
from grader.judging.naming import Evidence, MoreAnswers, Named, settle, verdict

States = dict[str, bool | None]
"""By planted bug, whether it is mended; None where the numbers do not say."""


def subsets(bugs: Sequence[str]) -> list[Hypothesis]:
    """All non-empty sets of the planted bugs."""
    return [frozenset(c) for n in range(1, len(bugs) + 1) for c in combinations(bugs, n)]


def planted(
    family: Family, bugs: Sequence[str], answers: Sequence[Answer], more: MoreAnswers
) -> tuple[States, Named]:
    """What has become of each planted bug, and what is named, where some values are wrong.

    Tried: every set of the planted bugs; then the other known mistakes, alone and with every such
    set, for those who mended a bug and made another; then two others.
    """
    evidence = Evidence(family, answers)
    found = settle(family, subsets(bugs), evidence, more)
    named = verdict(found)
    if not found:
        singles = (*family.listed, *family.same)
        others = [frozenset([m]) for m in singles if family.same.get(m, m) not in bugs]
        found = settle(family, others, evidence, more)
        if not found:
            others = [h for h in others if h <= set(family.listed)]
            wider = [other | h for other in others for h in subsets(bugs)]
            wider += [one | two for one, two in combinations(others, 2)]
            joined = [h for h in wider if family.compatible(h) is not None]
            found = settle(family, joined, evidence, more)
        named = verdict(found)
        # Another mistake may hide a bug: then it fits with the bug as well as without.
        behind = {h | s for h in found for s in (frozenset[str](), *subsets(bugs))}
        joined = [h for h in behind if family.compatible(h) is not None]
        found = settle(family, joined, evidence, more)
    return _states(family, bugs, found), named


def gone(family: Family, bugs: Sequence[str], answers: Sequence[Answer]) -> States:
    """What has become of each planted bug where no value is wrong: it is mended if some answer
    would have shown it."""
    if not answers or not all(answer.values_right for answer in answers):
        return dict.fromkeys(bugs)
    cases = {case["id"] for case in family.oracle.question["cases"]}
    if cases == {answer.case.id for answer in answers}:  # and on these all show: the bank's proof
        return dict.fromkeys(bugs, True)
    evidence = Evidence(family, answers)
    unseen = [h for h in subsets(bugs) if evidence.fits(h)]
    return _states(family, bugs, [frozenset(), *unseen])


def _states(family: Family, bugs: Sequence[str], found: Sequence[Hypothesis]) -> States:
    """What all the hypotheses that fit say of each bug. One that sets a bug's switch to something
    else says nothing: the same lines are wrong in another way, or hidden by it."""
    mended: States = {}
    for bug in bugs:
        states = {
            None if bug not in h and family.compatible({bug, *h}) is None else bug not in h
            for h in found
        }
        mended[bug] = states.pop() if len(states) == 1 else None
    return mended
