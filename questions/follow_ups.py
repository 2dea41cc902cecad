"""Checks of `follow_ups`: the edges from a question to those that an interviewer asks after it."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from questions.document import Document
from questions.findings import Finding
from questions.kinds import CODE_KINDS

_WRITTEN = ("code", "kernel")
"""Kinds whose file is the learner's own: that of a debug question was given."""


def troubles(question: Any) -> set[str]:
    """The ids by which a report says what was the trouble: of mistakes, and of parts."""
    if question.kind in (*CODE_KINDS, "compute"):
        return set(question.mistakes)
    if question.kind == "derive":
        wrong = {mistake.id for step in question.steps for mistake in step.mistakes}
        return wrong | {step.id for step in question.steps}
    if question.kind == "trace":
        return {part.id for part in (*question.parts, *question.mistakes)}
    if question.kind == "choice":
        return {option.id for option in question.options}
    return {point.id for point in (*question.key_points, *question.wrong_claims)}


def of_itself(question: Any, document: Document) -> Iterator[Finding]:
    """What is wrong with a question's edges, whatever they lead to."""
    known = troubles(question)
    seen = set()
    general: dict[str, int] = {}
    for i, edge in enumerate(question.follow_ups):
        place = ("follow_ups", i)
        if edge.ask == question.id:
            message = f"`ask` names `{edge.ask}` itself: name another question"
            yield document.finding((*place, "ask"), message)
        if edge.of and edge.on == "passed":
            message = "`of` says what was the trouble, and a passed question had none: remove it"
            yield document.finding((*place, "of"), message)
            continue
        for j, id_ in enumerate(edge.of):
            if id_ not in known:
                message = f"`{id_}` is no id that a report on `{question.id}` can name"
                yield document.finding((*place, "of", j), message)
        same = (edge.on, frozenset(edge.of), edge.ask)
        if same in seen:
            message = f"`{edge.ask}` follows on the same terms above: keep one of the two"
            yield document.finding(place, message)
        seen.add(same)
        if not edge.of:
            general.setdefault(edge.on, i)
        elif edge.on in general:
            message = f"`follow_ups[{general[edge.on]}]` always comes first: put this one before it"
            yield document.finding(place, message)


def of_what_it_asks(
    question: Any, document: Document, questions: Mapping[str, Any], known: Collection[str]
) -> Iterator[Finding]:
    """What does not fit the questions that the edges lead to.

    `known` holds the ids of the bank, `questions` those of them that could be read.
    """
    for i, edge in enumerate(question.follow_ups):
        place = ("follow_ups", i)
        if edge.ask not in known:
            message = f"`ask` names `{edge.ask}`, which no question has as its id"
            yield document.finding((*place, "ask"), message)
        if edge.ask not in questions:
            continue
        asked = questions[edge.ask]
        if edge.same_file and not {question.kind, asked.kind} <= set(_WRITTEN):
            message = (
                f"no file goes on from a {question.kind} to a {asked.kind} question: "
                "`same_file` is for code and kernel questions"
            )
            yield document.finding((*place, "same_file"), message)
        if edge.minutes is not None and edge.minutes > asked.minutes:
            message = f"`{edge.ask}` has a par time of {asked.minutes} minutes: give no more"
            yield document.finding((*place, "minutes"), message)
