"""A report as the learner reads it: the verdict, what is known, the next action last."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from rich.text import Text

from drills import clock
from drills.screen import console as look
from drills.screen.markdown import render, wrap
from drills.screen.safe import safe

if TYPE_CHECKING:
    from drills.submit import Outcome
    from grader.report import Check, Part, Report, Where

_MARGIN = 10  # the width of the labels on the left
_LONGEST_TRACEBACK = 12
_LONGEST_OUTPUT = 6
_MOST_NAMED = 8  # checks of one outcome
_CODE_KINDS = ("code", "debug", "kernel")


def colour(verdict: str) -> str:
    if verdict == "passed":
        return look.GOOD
    return look.UNSURE if verdict in ("partial", "needs_review", "not_run") else look.BAD


def words(verdict: str) -> str:
    return "fault of the grader" if verdict == "grader_error" else verdict.replace("_", " ")


def report_lines(outcome: Outcome, width: int, heading: bool = True) -> list[Text]:
    """The whole report but for its last lines, which `next_actions` gives."""
    report = outcome.report
    lines = [_head(report, width)] if heading else []
    code = report.kind in _CODE_KINDS
    if report.summary and not _is_said_below(report):
        lines += [Text(""), *_prose(report.summary, width)]
    if not code:
        lines += _parts(report.parts, width)
    lines += _mistakes(report, width)
    if report.certain:
        lines.append(Text(""))
        lines += wrap(Text("What is certain:"), width, " ")
        for fact in report.certain:
            lines += wrap(Text(safe(fact)), width, "   · ")
    if report.where is not None:
        lines += [Text(""), *_where(report.where, width)]
    if code:
        lines += _checks(report, width)
    lines += _raw("Traceback", report.traceback, _LONGEST_TRACEBACK)
    if report.verdict != "passed":
        lines += _raw("It printed", report.output, _LONGEST_OUTPUT)
    for note in report.notes:
        lines += [Text(""), *_labelled("Note", Text(safe(note)), width)]
    return lines


def _is_said_below(report: Report) -> bool:
    if report.verdict == "passed" and report.kind in _CODE_KINDS:
        return True  # the heading counts the checks
    return any(report.summary.rstrip(".") == m.title.rstrip(".") for m in report.mistakes)


def next_actions(outcome: Outcome, width: int) -> list[Text]:
    """The last lines: what to type now. `where` is the learner's file, for code."""
    report = outcome.report
    lines = [Text("")]
    for layer in report.isolation:
        if layer.startswith("no "):  # what was not protected is said each time
            lines += _labelled("Open", Text(safe(layer), style=look.DIM), width)
    if report.verdict == "passed" or outcome.rated is not None:
        if outcome.due is not None:
            back = clock.when(outcome.due, clock.now())
            reason = outcome.rated.reason if outcome.rated else "practice: already rated today"
            lines += _labelled("Back", Text(f"{back} ({reason})", style=look.DIM), width)
        return [*lines, *_action("Next", "drill next")]
    if report.verdict == "grader_error":
        return [*lines, *_action("Look", "drill doctor")]
    if report.where is not None:
        command = (
            f"drill grade {report.question} --seed {report.seed} "
            f"--case {report.where.case} --reproduce"
        )
        lines += _action("Try it", command)
    if report.verdict == "needs_review":
        lines += _action("Review", f"drill answer {report.question}")
        return lines
    if report.kind == "compute" and report.verdict != "invalid":
        again = f"drill show {report.question}   has new numbers"
        lines += _action("Again", again)
    if outcome.failures >= 2:
        lines += _action("Give up?", f"drill solution {report.question}")
    return [*lines, *_action("Stuck?", f"drill hint {report.question}")]


def _head(report: Report, width: int) -> Text:
    left = Text(" ")
    left.append(report.question, style=look.BOLD)
    left.append("  ")
    left.append(words(report.verdict), style=f"bold {colour(report.verdict)}")
    facts = []
    graded = report.checks or (report.parts if len(report.parts) > 1 else ())
    if graded:
        done = sum(item.verdict == "passed" for item in graded)
        facts.append(f"{done} of {len(graded)} {'checks' if report.checks else 'parts'}")
    if report.checks:
        facts.append(f"{report.seconds:.1f} s")
    if report.kind in (*_CODE_KINDS, "compute"):
        facts.append(f"seed {report.seed}")
    return beside(left, Text(" · ".join(facts), style=look.DIM), width)


def beside(left: Text, right: Text, width: int) -> Text:
    """`left`, and `right` flush right; on a line too short for both, apart by two spaces."""
    gap = max(2, width - left.cell_len - right.cell_len)
    return left + Text(" " * gap) + right


def _prose(text: str, width: int) -> list[Text]:
    return render(text, width, indent=1)


def _mistakes(report: Report, width: int) -> list[Text]:
    lines: list[Text] = []
    for mistake in report.mistakes:
        lines.append(Text(""))
        lines += wrap(Text(safe(_sentence(mistake.title)), style=look.BOLD), width, " ")
        if mistake.explanation:
            lines += render(mistake.explanation, width, indent=3)
        if mistake.hint:
            lines += render(mistake.hint, width, indent=3, style=look.DIM)
    return lines


def _sentence(title: str) -> str:
    """The family's mistakes are noun phrases ("attention with ..."); the others stand alone."""
    if not title[:1].islower():
        return title
    return f"This is {title.rstrip('.')}."


def _parts(parts: Iterable[Part], width: int) -> list[Text]:
    parts = list(parts)
    lines: list[Text] = []
    for number, part in enumerate(parts, 1):
        if len(parts) == 1:
            if part.message:
                lines += [Text(""), *_prose(part.message, width)]
            continue
        if number == 1:
            lines.append(Text(""))
        style = colour(part.verdict)
        sign = {"passed": "✓", "skipped": "–", "needs_review": "?", "partial": "~"}
        lead = f" {sign.get(part.verdict, '✗')} "
        rows = wrap(Text(safe(part.asks or part.id)), width, lead)
        for row in rows[:1]:
            row.stylize(style, 0, len(lead))
        lines += rows
        if part.given and part.verdict != "passed":
            given = safe(part.given).strip()
            if "\n" in given:
                lines += [Text(f"     {line}", style=look.DIM) for line in given.split("\n")]
            else:
                lines += wrap(Text(f"yours: {given}", style=look.DIM), width, "     ")
        if part.message:
            lines += render(part.message, width, indent=5)
    return lines


def _where(where: Where, width: int) -> list[Text]:
    sizes = " ".join(f"{name}={size}" for name, size in where.sizes.items())
    facts = ", ".join(part for part in (sizes, where.dtype) if part)
    lines = _labelled("Where", Text(f'case "{safe(where.case_title)}" ({facts})'), width)
    if where.pattern:
        lines += wrap(Text(safe(where.pattern)), width, " " * (_MARGIN + 1))
    if where.entries:
        share = f"{where.wrong_entries:,} of {where.entries:,} entries wrong"
        lines += wrap(Text(share), width, " " * (_MARGIN + 1))
    if where.index:
        worst = Text(safe(where.index), style=look.BOLD)
        worst.append(f"  yours {safe(where.yours)}", style=look.BAD)
        worst.append(f"   expected {safe(where.expected)}", style=look.GOOD)
        if where.allowed:
            worst.append(f"   allowed {safe(where.allowed)}", style=look.DIM)
        lines += _labelled("Largest", worst, width)
    return lines


def _checks(report: Report, width: int) -> list[Text]:
    passed = [c for c in report.checks if c.verdict == "passed"]
    skipped = [c for c in report.checks if c.verdict in ("skipped", "not_run")]
    failed = [c for c in report.checks if c not in passed and c not in skipped]
    if not failed or any(check.id == "load" for check in failed):
        return []
    lines = [Text("")]
    lines += _names("passed", _grouped(passed), look.GOOD, width)
    lines += _names("failed", _grouped(failed), look.BAD, width)
    lines += _names("skipped", _grouped(skipped), look.DIM, width)
    for check in _to_tell(failed, report):
        lines += wrap(Text(safe(f"{check.title or check.id}: {check.message}")), width, "   · ")
    return lines


def _grouped(checks: Iterable[Check]) -> list[str]:
    """Titles, with the many of one sort as one: "float64 (2)", "gradients (7)"."""
    titles: list[str] = []
    counts: dict[str, int] = {}
    for check in checks:
        sort, _, rest = check.id.partition("/")
        dtype = rest.partition("/")[2]
        name = "gradients" if sort == "gradients" else dtype if sort == "values" else ""
        if name:
            counts[name] = counts.get(name, 0) + 1
        else:
            titles.append(check.title or check.id)
    return titles + [f"{name} ({count})" for name, count in counts.items()]


def _to_tell(failed: list[Check], report: Report) -> list[Check]:
    """Failures whose own sentence adds to the summary; wrong values are told under Where."""
    told = []
    gradients_told = False
    for check in failed:
        sort = check.id.partition("/")[0]
        if not check.message or check.message in report.summary or sort == "values":
            continue
        if sort == "gradients":
            if gradients_told or (report.where is not None and not report.traceback):
                continue
            gradients_told = True
        told.append(check)
    return told


def _names(label: str, titles: list[str], style: str, width: int) -> list[Text]:
    if not titles:
        return []
    if len(titles) > _MOST_NAMED + 1:
        titles = [*titles[:_MOST_NAMED], f"{len(titles) - _MOST_NAMED} more"]
    text = Text(" · ".join(safe(title) for title in titles))
    rows = wrap(text, width, f"   {label:<8}", " " * 11)
    rows[0].stylize(style, 0, 11)
    return rows


def _raw(label: str, text: str, most: int) -> list[Text]:
    if not text.strip():
        return []
    rows = safe(text).rstrip().split("\n")
    if len(rows) > most:
        cut = len(rows) - most
        half = most // 2
        rows = [*rows[:half], f"… {cut} lines more …", *rows[-half:]]
    return [
        Text(""),
        Text(f" {label}", style=look.DIM),
        *(Text(f"   {row}", overflow="fold") for row in rows),
    ]


def _labelled(label: str, text: Text, width: int) -> list[Text]:
    rows = wrap(text, width, f" {label:<{_MARGIN - 1}} ", " " * (_MARGIN + 1))
    rows[0].stylize(look.DIM, 0, _MARGIN)
    return rows


def _action(label: str, command: str) -> list[Text]:
    # Never wrapped: a command is there to be copied.
    return [Text.assemble((f" {label:<{_MARGIN - 1}} ", look.DIM), (command, look.ACTION))]
