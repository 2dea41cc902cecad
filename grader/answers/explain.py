"""Prose, judged by key points and contradicted claims; what no rule decides is for review."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

from grader.answers import prose
from grader.answers.reading import Unreadable
from grader.report import NamedMistake, Part, Report, Verdict

_FORM = "Form: "
_CAP = 0.5  # of the score, with a claim that contradicts the facts


def grade(question: dict[str, Any], text: str, seed: int, mistakes: dict[str, Any]) -> Report:
    """Grade an explanation. Its score counts only points that a rule decided as made."""
    try:
        said = prose.statements(text)
    except Unreadable as error:
        return _report(question, seed, "invalid", 0.0, str(error))
    if not said:
        return _report(question, seed, "invalid", 0.0, "The answer is empty: write a sentence.")
    points = question["key_points"]
    doubted = prose.taken_back(said)
    beside: set[int] = set()  # what stands beside a wrong claim makes no point by itself
    named = []
    for claim in question["wrong_claims"]:
        holding = [i for i, one in enumerate(said) if i not in doubted and _claims(claim, one)]
        if holding:
            named.append(NamedMistake(claim["id"], claim["title"], claim["correction"].strip()))
            beside.update(holding)
    doubted |= beside | prose.listed(said)
    parts = tuple(_point(point, said, doubted) for point in points)
    notes = tuple(_FORM + fault for fault in _form(question["form"], text))
    draft = _report(question, seed, "needs_review", 0.0, "", parts, tuple(named), notes)
    return _settled(draft, {point["id"]: point["weight"] for point in points})


def apply_review(
    report: Report, confirmed: dict[str, bool], question: dict[str, Any] | None = None
) -> Report:
    """The report with undecided points settled: True is made, False missed, absent undecided."""
    parts = tuple(
        replace(
            part,
            verdict="passed" if confirmed[part.id] else "wrong_answer",
            message=f"{'Made' if confirmed[part.id] else 'Missed'}, by your own review.",
        )
        if part.verdict == "needs_review" and part.id in confirmed
        else part
        for part in report.parts
    )
    weights = {part.id: 1.0 for part in parts}
    if question is not None:
        weights = {point["id"]: point["weight"] for point in question["key_points"]}
    return _settled(replace(report, parts=parts), weights)


def _claims(claim: dict[str, Any], statement: str) -> bool:
    found = prose.finding(claim["says"], [statement], claim["unless"], conditions=True)
    return found == "made"


def _point(point: dict[str, Any], said: list[str], doubted: set[int]) -> Part:
    verdict: Verdict
    found = prose.finding(point["says"], said, doubted=doubted | prose.holding(point, said))
    if found == "made":
        verdict, message = "passed", "Made."
    elif found == "doubtful":
        verdict, message = (
            "needs_review",
            "Mentioned, but perhaps denied or under a condition: compare with the model answer.",
        )
    elif any(re.search(hint, s) for hint in point["hints_at"] for s in said):
        verdict, message = "needs_review", "Touched on: compare with the model answer."
    else:
        verdict, message = "wrong_answer", "Not mentioned."
    return Part(point["id"], verdict, message, point["text"])


def _form(form: dict[str, Any], text: str) -> list[str]:
    faults = []
    count = len(prose.sentences(text))
    if form["sentences"] is not None and count != form["sentences"]:
        faults.append(f"{form['sentences']} sentences are asked for, and {_counted(count)}.")
    if not form["equations"] and prose.has_equation(text):
        faults.append("No equations are asked for: say it in words.")
    return faults


def _counted(count: int) -> str:
    return "this is one" if count == 1 else f"these are {count}"


def _settled(report: Report, weights: dict[str, float]) -> Report:
    """The report with verdict, score and summary from its parts, mistakes and notes."""
    total = sum(weights.values())
    made = [part for part in report.parts if part.verdict == "passed"]
    open_ = [part for part in report.parts if part.verdict == "needs_review"]
    score = sum(weights[part.id] for part in made) / total
    spoiled = bool(report.mistakes) or any(note.startswith(_FORM) for note in report.notes)
    if report.mistakes:
        score = min(score, _CAP)
    verdict: Verdict
    if open_:
        verdict = "needs_review"
    elif len(made) == len(report.parts) and not spoiled:
        verdict = "passed"
    else:
        verdict = "partial" if made else "wrong_answer"
    summary = f"{len(made)} of {len(report.parts)} points made"
    if open_:
        summary += f", {len(open_)} for you to review"
    if report.mistakes:
        claims = len(report.mistakes)
        summary += f"; {claims} claim{'' if claims == 1 else 's'} that the facts contradict"
    return replace(report, verdict=verdict, score=score, summary=f"{summary}.")


def _report(
    question: dict[str, Any],
    seed: int,
    verdict: Verdict,
    score: float,
    summary: str,
    parts: tuple[Part, ...] = (),
    named: tuple[NamedMistake, ...] = (),
    notes: tuple[str, ...] = (),
) -> Report:
    return Report(
        question=question["id"],
        kind="explain",
        verdict=verdict,
        score=score,
        seed=seed,
        summary=summary,
        parts=parts,
        mistakes=named,
        notes=notes,
        revision=question.get("revision", 1),
    )
