"""The debrief of an interview that is over, from the recorded facts alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

from drills import clock, serving
from drills.app import App
from drills.mock import roles, state, timer
from drills.mock.history import DEBRIEFED
from drills.mock.record import Record
from drills.mock.scores import Conclusion, Judged, Score, conclude, scores
from drills.mock.state import Item, State
from grader import answers
from grader.report import Report

FORMAT = 1
_AGAIN, _BASICS = 3, 2  # how many of those missed, and of those they build on
_LABS = {roles.SYSTEMS: "prefill-decode", roles.DERIVATION: "softmax-saturation"}
_LOW = 3  # of 5: what is weaker gets a lab too


@dataclass(frozen=True)
class Answer:
    """One question of the transcript. Times are in seconds of the interview's clock; `given` is
    the last answer as typed, or the code; `report` is the grade of it, None for no answer. `tries`
    are all grades of it: when each was, and its verdict."""

    number: int
    round: str
    question: str
    title: str
    kind: str
    says: str
    after: int | None
    prompt: str
    at: float
    seconds: float
    par: float
    outcome: str
    tries: tuple[tuple[float, str], ...]
    hints: int
    told: str
    given: str
    report: Report | None
    competency: str


@dataclass(frozen=True)
class Advice:
    """`lab` is whether `what` names a lab; `why` says what for, `when` when it is due."""

    what: str
    why: str
    when: str
    lab: bool = False


@dataclass(frozen=True)
class Debrief:
    """What came of an interview. `ended` says why it was over."""

    id: str
    role: str
    minutes: int
    seconds: float
    seed: int
    began: datetime
    ended: str
    scores: tuple[Score, ...]
    conclusion: Conclusion
    answers: tuple[Answer, ...]
    next: tuple[Advice, ...]
    pauses: tuple[float, ...]

    @property
    def mistakes(self) -> list[tuple[Answer, str, str]]:
        """Each named mistake once: the answer that had it, its title, and the explanation."""
        found: dict[str, tuple[Answer, str, str]] = {}
        for answer in self.answers:
            for mistake in answer.report.mistakes if answer.report else ():
                found.setdefault(mistake.id, (answer, mistake.title, mistake.explanation))
        return list(found.values())


def debrief(app: App, now: State) -> Debrief:
    """Everything that is said of the interview. Of an id that the bank no longer has, what was
    recorded."""
    told = tuple(_answer(app, item) for item in now.items)
    judged = [
        Judged(item, answer.competency, _right(answer), answer.told)
        for item, answer in zip(now.items, told, strict=True)
    ]
    found = tuple(scores(judged))
    concluded = conclude(found, roles.ROLES[now.role])
    return Debrief(
        id=now.id,
        role=now.role,
        minutes=now.minutes,
        seconds=now.used,
        seed=now.seed,
        began=now.began,
        ended=now.ended,
        scores=found,
        conclusion=concluded,
        answers=told,
        next=tuple(_advice(app, told, found, concluded.worry)),
        pauses=tuple(at for at, name in now.log if name == state.PAUSED),
    )


def remember(app: App, found: Debrief) -> None:
    """Record the result, and put what is to be drilled next on the schedule: what was missed is
    due from its review already, and what is new is served before other new problems."""
    cards = app.store.cards()
    for advice in found.next:
        if not advice.lab and advice.what not in cards:
            app.note(advice.what, "advised", detail={"by": found.id})
    Record(app, found.id).debriefed(
        DEBRIEFED,
        role=found.role,
        minutes=found.minutes,
        seconds=round(found.seconds, 1),
        scores={one.competency: one.score for one in found.scores if one.score is not None},
        conclusion=found.conclusion.said,
    )


def _answer(app: App, item: Item) -> Answer:
    question: Mapping[str, Any] = app.index.questions.get(item.question) or {}
    report, given = None, ""
    if item.best is not None:
        shown = item.best if item.best.verdict == "passed" else item.tries[-1]
        kept = app.store.attempt(shown.attempt)
        if kept is not None:
            report, given = Report.from_json(kept[0]), kept[1]
            if item.said and question:
                report = answers.apply_review(report, dict(item.said), dict(question))
    kind = str(question.get("kind") or (report.kind if report else ""))
    title = str(question.get("title") or item.question)
    prompt = ""
    if question:
        served = serving.serve(dict(question), item.seed)
        prompt = served.text(question["prompt"])
    return Answer(
        number=item.number,
        round=item.round,
        question=item.question,
        title=title,
        kind=kind,
        says=item.says,
        after=item.after,
        prompt=prompt,
        at=item.at,
        seconds=item.seconds,
        par=item.par,
        outcome=item.outcome,
        tries=tuple((one.at, one.verdict) for one in item.tries),
        hints=item.hints,
        told=_told(item, kind, report),
        given=given,
        report=report,
        competency=roles.competency(kind, roles.round_named(item.round)),
    )


def _bugs(report: Report) -> tuple[int, int]:
    """Of the planted bugs, how many are gone, and how many there are."""
    bugs = [check for check in report.checks if check.id.startswith("bug/")]
    return sum(check.verdict == "passed" for check in bugs), len(bugs)


def _right(answer: Answer) -> float:
    if answer.report is None:
        return 0.0
    gone, bugs = _bugs(answer.report)
    if bugs and answer.report.verdict != "passed":
        return min(gone, bugs - 0.5) / bugs  # a new one came where all are gone
    return answer.report.score


def _told(item: Item, kind: str, report: Report | None) -> str:
    """How it went, in a few words, the question first."""
    best = item.best
    if best is None or report is None:
        how = "not answered in time" if item.outcome == state.OUT_OF_TIME else "skipped"
        return f"{item.question}: {how}"
    hints = "" if not item.hints else f", with {item.hints} hint{'s' if item.hints > 1 else ''}"
    if best.verdict == "passed":
        tries = len(item.tries)
        how = "right at the first try" if tries == 1 else f"right at try {tries}"
        return f"{item.question}: {how}{hints}, in {timer.shown(item.seconds)}"
    gone, bugs = _bugs(report)
    if bugs:
        how = f"{gone} of {bugs} bugs gone" + (", but a new one came" if gone == bugs else "")
    elif best.verdict in ("partial", "needs_review") or (kind == "explain" and best.score):
        how = f"{best.score:.0%} of it"
    else:
        how = "missed"
    if report.mistakes:
        how += f" ({report.mistakes[0].title})"
    return f"{item.question}: {how}{hints}"


def _advice(
    app: App, told: tuple[Answer, ...], found: tuple[Score, ...], worry: str
) -> list[Advice]:
    """What was missed, what the loop worries about and the worst first; then what it builds on;
    then a lab."""
    now = clock.now()
    cards = app.store.cards()
    questions = app.index.questions
    again: dict[str, Advice] = {}
    missed = [a for a in told if a.outcome != state.PASSED and a.question in questions]
    missed.sort(key=lambda a: (a.competency != worry, _right(a), a.number))
    for answer in missed:
        card = cards.get(answer.question)
        due = clock.when(card.due, now) if card else "new"
        why = "skipped" if answer.report is None else "missed"
        if answer.outcome == state.OUT_OF_TIME:
            why = "not reached in time"
        again[answer.question] = Advice(answer.question, why, due)
    basics: dict[str, Advice] = {}
    for answer in missed:
        for before in questions[answer.question].get("follows") or ():
            if before in questions and before not in cards and before not in again:
                basics.setdefault(before, Advice(before, f"{answer.question} builds on it", "new"))
    chosen = [*list(again.values())[:_AGAIN], *list(basics.values())[:_BASICS]]
    low = [s.competency for s in found if s.score is not None and s.score <= _LOW]
    labs = [_LABS[name] for name in low if name in _LABS]
    chosen += [Advice(lab, "to see it measured", "any time", lab=True) for lab in labs[:1]]
    return chosen


def as_json(found: Debrief) -> dict[str, Any]:
    """What `drill mock --json` prints."""
    data = {"format": FORMAT, **asdict(found)}
    data["began"] = clock.to_text(found.began)
    data["scores"] = [asdict(one) for one in found.scores]
    for row, answer in zip(data["answers"], found.answers, strict=True):
        row["report"] = None if answer.report is None else answer.report.to_json()
    data["mistakes"] = [
        {"question": answer.question, "title": title, "explanation": explanation}
        for answer, title, explanation in found.mistakes
    ]
    return data
