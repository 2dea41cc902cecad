"""The debrief as one self-contained page: scores, timeline, mistakes, and the transcript."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from drills.html import page, svg
from drills.html import write as write_page
from drills.mock import state, timer
from drills.mock.debrief import Answer, Debrief
from drills.mock.scores import MOST
from questions.kinds import CODE_KINDS

if TYPE_CHECKING:
    from markupsafe import Markup
    from matplotlib.figure import Figure

TEMPLATE = "mock"
_SECTIONS = [
    ("scores", "Scores"),
    ("time", "Time"),
    ("mistakes", "Mistakes"),
    ("next", "What to drill next"),
    ("transcript", "Transcript"),
]
_COLOURS = {
    state.PASSED: svg.SERIES[2],
    state.MISSED: svg.SERIES[1],
    state.SKIPPED: svg.SOFT,
    state.OUT_OF_TIME: svg.LINE,
}


def write(found: Debrief, path: Path, force: bool = False) -> None:
    """Put the page at `path`. Raises DrillError where another file is there, unless `force`."""
    write_page(render(found), path, TEMPLATE, force)


def render(found: Debrief) -> str:
    seen = [one for one in found.scores if one.score is not None]
    return page(
        f"Mock interview: {found.role}, {found.minutes} minutes",
        TEMPLATE,
        sections=_SECTIONS,
        debrief=found,
        most=MOST,
        used=timer.shown(found.seconds),
        began=found.began.astimezone(),
        answers=[_transcribed(answer) for answer in found.answers],
        score_picture=_scores(found) if seen else None,
        score_rows=[(one.competency, one.score) for one in seen],
        time_picture=_timeline(found) if found.answers else None,
        time_rows=[
            (
                f"{a.number}. {a.question}",
                timer.shown(a.at),
                timer.shown(a.seconds),
                timer.shown(a.par),
                a.outcome,
            )
            for a in found.answers
        ],
    )


def _transcribed(answer: Answer) -> dict[str, Any]:
    report = answer.report
    wrong = [] if report is None else [p for p in report.parts if p.verdict != "passed"]
    return {
        "answer": answer,
        "code": answer.kind in CODE_KINDS,
        "at": timer.shown(answer.at),
        "tries": [
            f"{verdict.replace('_', ' ')} at {timer.shown(at)}" for at, verdict in answer.tries
        ],
        "took": timer.shown(answer.seconds),
        "par": timer.shown(answer.par),
        "good": answer.outcome == state.PASSED,
        "prompt": answer.prompt.strip(),
        "given": answer.given.strip(),
        "summary": "" if report is None else report.summary,
        "wrong": wrong,
        "mistakes": () if report is None else report.mistakes,
    }


def _scores(found: Debrief) -> Markup:
    seen = [one for one in found.scores if one.score is not None]

    def draw(figure: Figure) -> None:
        axes = figure.subplots()
        places = range(len(seen))
        axes.barh(places, [MOST] * len(seen), height=0.55, color=svg.HEAT[0])
        values = [one.score or 0 for one in seen]
        axes.barh(places, values, height=0.55, color=svg.SERIES[0])
        axes.set_yticks(list(places), [one.competency for one in seen])
        axes.invert_yaxis()
        axes.set_xlim(0, MOST)
        axes.set_xticks(range(MOST + 1))
        axes.set_xlabel(f"score (of {MOST})")
        axes.spines[["left", "bottom"]].set_visible(False)
        axes.tick_params(length=0)

    told = "; ".join(f"{one.competency} {one.score} of {MOST}" for one in seen)
    size = (svg.SIZE[0], 0.9 + 0.32 * len(seen))
    return svg.picture("scores", "Scores by competency", told, draw, size)


def _timeline(found: Debrief) -> Markup:
    answers = found.answers

    def draw(figure: Figure) -> None:
        axes = figure.subplots()
        for outcome, colour in _COLOURS.items():
            mine = [a for a in answers if a.outcome == outcome]
            if mine:
                axes.barh(
                    [a.number for a in mine],
                    [max(a.seconds / 60, 0.05) for a in mine],
                    left=[a.at / 60 for a in mine],
                    height=0.6,
                    color=colour,
                    label=outcome,
                )
        for answer in answers:
            par = (answer.at + answer.par) / 60
            rows = (answer.number - 0.4, answer.number + 0.4)
            axes.plot([par, par], rows, color=svg.INK, linewidth=1.5, solid_capstyle="butt")
        for at in found.pauses:
            axes.axvline(at / 60, color=svg.SOFT, linestyle=":", linewidth=1)
        axes.set_yticks([a.number for a in answers], [f"{a.number}. {a.question}" for a in answers])
        axes.set_ylim(len(answers) + 0.6, 0.4)
        last = max((a.at + a.par) / 60 for a in answers)
        axes.set_xlim(0, max(found.minutes, last, found.seconds / 60) * 1.02)
        axes.set_xlabel("minutes on the clock")
        axes.grid(axis="x")
        axes.tick_params(axis="y", length=0)
        figure.legend(loc="outside upper left", ncols=2, fontsize=8)

    told = "; ".join(
        f"{a.question} began at {timer.shown(a.at)}, took {timer.shown(a.seconds)} of par "
        f"{timer.shown(a.par)}, {a.outcome}"
        for a in answers
    )
    size = (svg.SIZE[0], 1.3 + 0.26 * len(answers))
    return svg.picture("timeline", "Timeline of the interview", told, draw, size)
