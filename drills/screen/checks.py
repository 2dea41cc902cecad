"""The checks of a code question: many by name, few in a sentence of their own."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from rich.text import Text

from drills.screen import console as look
from drills.screen.markdown import wrap
from drills.screen.safe import safe

if TYPE_CHECKING:
    from grader.report import Check, Report

SUPPORT = "shapes of the support matrix"
_SUPPORT_LEFT = "other calls of the support matrix"
_FEW_SHAPES = 3  # that failed or were skipped: up to here by name
_MOST_SHAPES = 8  # of those that fail, told one by one
_MOST_LINES = 2  # for the checks of one outcome
ENDED = ("forbidden", "denied", "crashed")
STOPPED = (*ENDED, "time_limit", "memory_limit", "output_limit", "resource_limit", "invalid")
_BUGS = {"passed": ("✓ gone", look.GOOD), "wrong_answer": ("✗ still there", look.BAD)}


def check_lines(report: Report, width: int) -> list[Text]:
    """Which checks passed, failed and were skipped; then what failures say for themselves."""
    passed = [c for c in report.checks if c.verdict == "passed"]
    skipped = [c for c in report.checks if c.verdict == "skipped"]
    absent = [c for c in report.checks if c.verdict == "not_run"]  # the last lines tell of them
    failed = [c for c in report.checks if c not in (*passed, *skipped, *absent)]
    if not failed or any(check.id == "load" for check in failed):
        return []
    lines = [Text("")]
    telling = [c for c in passed if c.id != "load"]
    if not telling and any(c.verdict in ENDED for c in failed):
        return []  # nothing ran: the summary has said it
    lines += _bug_lines(report, width)
    passed, failed, skipped = (_others(c) for c in (passed, failed, skipped))
    telling = _others(telling)
    lines += _names("passed", _grouped(telling), look.GOOD, width)
    lines += _names("failed", _grouped(failed, few=_FEW_SHAPES), look.BAD, width)
    left = _grouped(skipped, _SUPPORT_LEFT, few=_FEW_SHAPES)
    lines += _names("skipped", left, look.DIM, width)
    for check in _to_tell(failed, report):
        title = f"{check.title or check.id}: "
        lines += wrap(Text(safe(title + check.message)), width, "   · ")
    return lines


def _is_bug(check: Check) -> bool:
    return check.id.startswith("bug/")


def _others(checks: Iterable[Check]) -> list[Check]:
    return [check for check in checks if not _is_bug(check)]


def _bug_lines(report: Report, width: int) -> list[Text]:
    """The planted bugs by name, but for those of which the numbers do not tell: to name these
    would be to find them."""
    lines: list[Text] = []
    bugs = [check for check in report.checks if _is_bug(check)]
    for verdict, (label, style) in _BUGS.items():
        for check in bugs:
            if check.verdict == verdict:
                lines += _bug_line(label, check.title, style, width)
    unknown = sum(check.verdict not in _BUGS for check in bugs)
    if unknown:
        told = "1 bug" if unknown == 1 else f"{unknown} bugs"
        told += ": the numbers do not say whether it is still there"
        told = told if unknown == 1 else told.replace("it is", "they are")
        lines += _bug_line("? not to tell", told, look.UNSURE, width)
    return [*lines, Text("")] if lines else []


def _bug_line(label: str, told: str, style: str, width: int) -> list[Text]:
    rows = wrap(Text(safe(told)), width, f"   {label:<15}", " " * 18)
    rows[0].stylize(style, 0, 18)
    return rows


def _grouped(checks: Sequence[Check], support: str = SUPPORT, few: int = 0) -> list[str]:
    """Titles, with the many of one sort as one: "float64 (2)", "gradients (7)"; those of the
    support matrix as `support`, where they are more than `few`."""
    titles: list[str] = []
    counts: dict[str, int] = {}
    if sum(check.id.startswith("support/") for check in checks) <= few:
        support = ""
    for check in checks:
        sort, _, rest = check.id.partition("/")
        dtype = rest.partition("/")[2]
        name = {"gradients": "gradients", "values": dtype, "support": support}.get(sort, "")
        name = name if rest else ""
        if name:
            counts[name] = counts.get(name, 0) + 1
        else:
            titles.append(check.title or check.id)
    counted = [f"{name} ({count})" for name, count in counts.items()]
    return [*titles, *counted]


def _to_tell(failed: list[Check], report: Report) -> list[Check]:
    """Failures whose own sentence adds to the summary; wrong values are told under Where."""
    told = []
    gradients_told, shapes = False, 0
    for check in failed:
        sort = check.id.partition("/")[0]
        if not check.message or check.message in report.summary or sort == "values":
            continue
        if sort == "support":
            shapes += 1
            if shapes > _MOST_SHAPES:
                continue
        if sort == "gradients":
            if gradients_told or (report.where is not None and not report.traceback):
                continue
            gradients_told = True
        told.append(check)
    return told


def _names(label: str, titles: list[str], style: str, width: int) -> list[Text]:
    """As many of the titles as fit _MOST_LINES, and how many more there are."""
    rows: list[Text] = []
    for shown in range(len(titles), 0, -1):
        left = [f"{len(titles) - shown} more"] if shown < len(titles) else []
        text = Text(" · ".join(safe(title) for title in [*titles[:shown], *left]))
        rows = wrap(text, width, f"   {label:<8}", " " * 11)
        if len(rows) <= _MOST_LINES:
            break
    if rows:
        rows[0].stylize(style, 0, 11)
    return rows
