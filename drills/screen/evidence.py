"""Where a fault shows, and the few lines that show it again."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.text import Text

from drills.screen import console as look
from drills.screen.markdown import wrap
from drills.screen.safe import one_line, safe

if TYPE_CHECKING:
    from grader.report import Sample, Where

MARGIN = 10  # the width of the labels on the left


def where_lines(where: Where, sample: Sample | None, width: int) -> list[Text]:
    """The case, how much of its output is wrong, and the worst entry."""
    sizes = " ".join(f"{name}={size}" for name, size in where.sizes.items())
    facts = ", ".join(part for part in (sizes, where.dtype) if part)
    lines = labelled("Where", Text(f'case "{safe(where.case_title)}" ({facts})'), width)
    if where.entries:
        lines += wrap(Text(safe(_share(where))), width, " " * (MARGIN + 1))
    odd = not where.allowed or where.yours in ("nan", "inf", "-inf")
    if where.index and not (odd and sample is not None):  # the sample shows as much
        worst = Text(safe(where.index), style=look.BOLD)
        worst.append(f"  yours {safe(where.yours)}", style=look.BAD)
        worst.append(f"   expected {safe(where.expected)}", style=look.GOOD)
        if where.allowed and not odd:
            worst.append(f"   allowed {safe(where.allowed)}", style=look.DIM)
        lines += labelled("Worst", worst, width)
    return lines


def _share(where: Where) -> str:
    """`16 of 20 entries wrong: every row from 1 on`."""
    kind, pattern = "wrong", where.pattern
    if pattern == "NaN" or pattern.startswith("NaN: "):
        kind, pattern = "NaN", pattern[5:]
    name = where.index.partition("[")[0]
    of = f" of {name}" if name not in ("", "out") else ""
    if where.wrong_entries == where.entries:
        whole = f"all {where.entries:,} entries{of} are"
        return f"{whole if where.entries > 1 else f'{name} is'} {kind}"
    noun = "is" if where.wrong_entries == 1 else "are"
    share = f"{where.wrong_entries:,} of {where.entries:,} entries{of} {noun} {kind}"
    return f"{share}: {pattern}" if pattern else share


def sample_lines(sample: Sample, path: str, width: int) -> list[Text]:
    """A program at the left edge, so that it can be pasted as it is; or a row of the output.
    `path` is the file that was graded, if there is one."""
    lines = [Text("")]
    if sample.code:
        told = f"To see it, paste this into Python{_started(sample.code, path)}:"
        lines += wrap(Text(safe(told), look.DIM), width, " ")
        lines.append(Text(""))
        lines += [Text(safe(line), style=look.ACTION) for line in sample.code]
        lines.append(Text(""))
    else:
        lines += labelled("Row", Text(safe(sample.of), style=look.BOLD), width)
    verb = sample.verb if sample.code else "yours"
    for label, value, style in (
        (verb, sample.shown, look.BAD),
        ("expected", sample.expected, look.GOOD),
    ):
        if value and sample.verb == "raises":  # the summary has it in full
            lines += labelled(label, Text(one_line(value, width - MARGIN - 1), style), width)
        elif value:
            lines += labelled(label, Text(safe(value), style=style), width)
    return lines


def _started(code: Sequence[str], path: str) -> str:
    """From where the program finds the learner's file."""
    modules = [name for name in re.findall(r"from (\w+) import", " ".join(code)) if name != "torch"]
    if not modules:
        return ""
    folder, _, name = path.rpartition("/")
    if name != f"{modules[0]}.py":
        return f" where your code is {modules[0]}.py"
    return f" (cd {shlex.quote(safe(folder) or '/')}; python)" if "/" in path else ", started here"


def labelled(label: str, text: Text, width: int) -> list[Text]:
    """`text` beside a dim label."""
    rows = wrap(text, width, f" {label:<{MARGIN - 1}} ", " " * (MARGIN + 1))
    rows[0].stylize(look.DIM, 0, MARGIN)
    return rows
