"""A report as the learner reads it: the verdict, what is known, the next action last."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.text import Text

from drills import clock
from drills.screen import console as look
from drills.screen.checks import STOPPED, check_lines
from drills.screen.evidence import MARGIN, labelled, sample_lines, where_lines
from drills.screen.kernel import kernel_lines
from drills.screen.markdown import render, spans, wrap
from drills.screen.parts import NOUNS, colour, part_lines
from drills.screen.places import excerpt, place_lines, traceback_lines
from drills.screen.safe import safe
from questions.kinds import CODE_KINDS

if TYPE_CHECKING:
    from drills.submit import Outcome
    from grader.report import Report

_LONGEST_OUTPUT = 6


def words(verdict: str) -> str:
    return "fault of the grader" if verdict == "grader_error" else verdict.replace("_", " ")


def report_lines(outcome: Outcome, width: int) -> list[Text]:
    """The whole report but for its last lines, which `next_actions` gives."""
    report = outcome.report
    lines = _head(report, width)
    code = report.kind in CODE_KINDS
    if report.summary and not _is_said_below(report):
        lines += [Text(""), *render(report.summary, width)]
    # The slip first, then the working that shows the right number.
    mistakes = _mistakes(report, width)
    parts = [] if code else part_lines(report, width)
    lines += [*mistakes, *parts] if report.kind == "compute" else [*parts, *mistakes]
    if report.certain:
        lines.append(Text(""))
        unknown = "No known mistake gives these numbers. " if _is_unknown(report) else ""
        lines += wrap(Text(f"{unknown}What is certain:"), width, " ")
        for fact in report.certain:
            lines += wrap(Text(safe(fact)), width, "   · ")
    if report.where is not None:
        lines += [Text(""), *where_lines(report.where, report.sample, width)]
    if report.sample is not None:
        lines += sample_lines(report.sample, outcome.path, width)
    if code:
        lines += check_lines(report, width)
        lines += kernel_lines(report, width)
    lines += place_lines(report, outcome.path) + traceback_lines(report, outcome.path)
    if report.verdict != "passed":
        lines += _printed(report.output)
    for note in report.notes:
        lines += [Text(""), *labelled("Note", Text(safe(note)), width)]
    return lines


def _is_unknown(report: Report) -> bool:
    """Wrong values, for which a name was sought in vain."""
    place = report.where
    values = place is not None and bool(place.index) and ".grad" not in place.index
    fits = any("known mistakes" in fact for fact in report.certain)
    return report.verdict == "wrong_answer" and values and not report.mistakes and not fits


def _is_said_below(report: Report) -> bool:
    if report.kind in CODE_KINDS:  # the heading counts the checks
        return report.verdict == "passed" or bool(report.mistakes)
    several = len(report.parts) > 1  # the heading counts them
    if report.kind == "explain":
        return several
    return several and report.kind in ("derive", "trace") and report.verdict != "passed"


def isolation(layers: Sequence[str], width: int) -> list[Text]:
    """The tier, and what was not protected, each on one line; drill doctor tells the rest."""
    lines: list[Text] = []
    for number, layer in enumerate(layers):
        if number == 0 or layer.startswith("no "):
            told = safe(layer)
            if len(told) + MARGIN >= width:
                told = told.partition(":")[0]
                told += "; see: drill doctor" if number else ""
            lines += labelled("" if number else "Isolation", Text(told, style=look.DIM), width)
    return lines


def next_actions(
    outcome: Outcome,
    width: int,
    in_place: bool = False,
    then: tuple[str, str] = ("drill next", ""),
) -> list[Text]:
    """The last lines: what to type now. `in_place` leaves out what the menu below them offers;
    `then` is what to type once it is over, and what that serves."""
    report = outcome.report
    lines = [Text(""), *isolation(report.isolation, width)]
    if outcome.over:
        if outcome.due is not None:
            back = clock.when(outcome.due, clock.now())
            reason = outcome.rated.reason if outcome.rated else "practice: already rated today"
            lines += labelled("Back", Text(f"{back} ({reason})", style=look.DIM), width)
        if report.kind == "explain":
            lines += _action("Compare", f"drill solution {report.question}")
        return [*lines, *_action("Next", *then)]
    if report.verdict == "grader_error":
        return [*lines, *_action("Look", "drill doctor")]
    if report.where is not None:
        case = f"--seed {report.seed} --case {report.where.case}"
        command = f"drill grade {report.question}{_file(outcome)} {case} --reproduce"
        lines += _action("Try it", f"{outcome.again} {case}" if outcome.again else command)
    if in_place:
        return lines if len(lines) > 1 else []
    if report.verdict == "needs_review":
        lines += _action("Review", f"drill answer {report.question}")
        return lines
    if report.kind == "compute" and report.verdict != "invalid":
        lines += _action("Again", f"drill show {report.question}", "new numbers")
    if outcome.failures >= 2 or outcome.no_hints_left:
        lines += _action("Give up?", f"drill solution {report.question}")
    if not outcome.no_hints_left:
        lines += _action("Stuck?", f"drill hint {report.question}")
    return lines


def _head(report: Report, width: int) -> list[Text]:
    left = Text(" ")
    left.append(report.question, style=look.BOLD)
    left.append("  ")
    left.append(words(report.verdict), style=f"bold {colour(report.verdict)}")
    facts = []
    one_option = report.kind == "choice" and sum(p.given == "chosen" for p in report.parts) < 2
    graded = report.checks or (report.parts if len(report.parts) > 1 and not one_option else ())
    if report.checks and not _was_judged(report):
        facts.append("stopped before any result")
    elif graded:
        run = [item.verdict for item in graded if item.verdict != "not_run"]
        done = run.count("passed")
        noun = "checks" if report.checks else NOUNS.get(report.kind, "parts")
        facts.append(f"{done} of {len(run)} {noun}")
    if report.checks:
        facts.append(f"{report.seconds:.1f} s")
    if report.kind in (*CODE_KINDS, "compute"):
        facts.append(f"seed {report.seed}")
    return beside(left, Text(" · ".join(facts), style=look.DIM), width)


def _was_judged(report: Report) -> bool:
    """False for a run that ended in its first call, or before."""
    found = [c.verdict for c in report.checks if c.id != "load" and c.verdict != "skipped"]
    return not all(verdict in STOPPED for verdict in found) or len(found) > 1


def _file(outcome: Outcome) -> str:
    """The file as the learner named it, with what is hidden in a name spelled out."""
    from shlex import quote

    return f" {quote(safe(outcome.path))}" if outcome.named and outcome.path else ""


def beside(left: Text, right: Text, width: int) -> list[Text]:
    """`left`, and `right` flush right on the same line, else on the next."""
    gap = width - left.cell_len - right.cell_len
    if not right.cell_len:
        return [left]
    if gap < 2:
        return [*wrap(left[1:], width, " "), *wrap(right, width, " ")]
    return [left + Text(" " * gap) + right]


def _mistakes(report: Report, width: int) -> list[Text]:
    lines: list[Text] = []
    code = report.kind in CODE_KINDS
    for number, mistake in enumerate(report.mistakes):
        said = mistake.explanation.strip()
        if said and any(said in part.message for part in report.parts):
            continue  # it stands by the part that it explains
        title = mistake.title.rstrip(".")
        if code:  # such a title completes the sentence
            title = f"It is also {title}." if number else f"This is {title}."
        else:
            title = f"{title[:1].upper()}{title[1:]}."
        lines.append(Text(""))
        lines += wrap(Text(safe(title), style=look.BOLD), width, " ")
        if mistake.explanation:
            lines += render(mistake.explanation, width, indent=3)
        if mistake.hint:
            lead = "   Hint: "
            lines += wrap(spans(" ".join(safe(mistake.hint).split()), look.DIM), width, lead)
    return lines


def _printed(output: str) -> list[Text]:
    return excerpt("It printed", output, _LONGEST_OUTPUT, lambda row: Text(f"   {row}"))


def _action(label: str, command: str, about: str = "") -> list[Text]:
    # Never wrapped: a command is there to be copied.
    line = Text.assemble((f" {label:<{MARGIN - 1}} ", look.DIM), (command, look.ACTION))
    return [line.append(f"   ({about})", style=look.DIM) if about else line]
