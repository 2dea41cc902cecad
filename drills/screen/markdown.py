"""The bank's Markdown as rich text. Our subset only: rich.markdown costs 80 ms to import.

Paragraphs, headings, bullet and numbered lists (nested by indentation), fenced code, tables;
within a line `code`, **bold** and *italic*.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from rich.text import Text

from drills.screen.safe import safe

_SPAN = re.compile(
    r"(?P<code>`[^`\n]+`)|(?P<bold>\*\*(?=\S)[^*\n]+(?<=\S)\*\*)"
    r"|(?P<italic>(?<![\w*])\*(?=[^\s*])[^*\n]+(?<=[^\s*])\*(?![\w*]))"
)
_GLUE = "\ue000"  # stands for a space at which a line must not be broken
_LONGEST_WHOLE = 32  # characters of inline code that are kept on one line
_ITEM = re.compile(r"^(\s*)([-*+]|\d{1,2}[.)])\s+(.*)$")
_RULE = re.compile(r"^\s*\|?\s*:?-{3,}.*$")


@dataclass(frozen=True)
class Block:
    """`lead` stands before the first line, and spaces of its width before the others."""

    kind: str  # text, heading, item, code, table
    lines: tuple[str, ...]
    lead: str = ""
    tight: bool = False  # no empty line before it


def spans(line: str, style: str = "") -> Text:
    """One line with its inline marks carried out."""
    text = Text(style=style)
    at = 0
    for match in _SPAN.finditer(line):
        text.append(line[at : match.start()])
        if match["code"]:
            code = match["code"][1:-1]
            whole = len(code) <= _LONGEST_WHOLE
            text.append(code.replace(" ", _GLUE) if whole else code, style="bold cyan")
        elif match["bold"]:
            text.append(match["bold"][2:-2], style="bold")
        else:
            text.append(match["italic"][1:-1], style="italic")
        at = match.end()
    text.append(line[at:])
    return text


def blocks(source: str) -> Iterator[Block]:
    """Cut `source` into blocks."""
    lines = safe(source).rstrip().split("\n")
    at = 0
    after_item = False
    gap = True
    while at < len(lines):
        line = lines[at]
        if not line.strip():
            at += 1
            gap = True
            continue
        start = at
        item = _ITEM.match(line)
        if line.lstrip().startswith("```"):
            indent = len(line) - len(line.lstrip())
            at += 1
            body = []
            while at < len(lines) and not lines[at].lstrip().startswith("```"):
                body.append(lines[at][indent:] if not lines[at][:indent].strip() else lines[at])
                at += 1
            at += 1
            yield Block("code", tuple(body), lead=" " * (indent + 2))
        elif line.lstrip().startswith("#"):
            at += 1
            yield Block("heading", (line.lstrip("# ").strip(),))
        elif line.lstrip().startswith("|"):
            while at < len(lines) and lines[at].lstrip().startswith("|"):
                at += 1
            yield Block("table", tuple(lines[start:at]))
        elif item:
            mark = "·" if item[2] in "-*+" else item[2]
            at, words = _gather(lines, at + 1, [item[3]], in_list=True)
            lead = " " * (len(item[1]) + 1) + mark + " "
            yield Block("item", (" ".join(words),), lead=lead, tight=after_item and not gap)
        elif line.startswith("    "):
            while at < len(lines) and (lines[at].startswith("    ") or not lines[at].strip()):
                at += 1
            body = "\n".join(part[4:] for part in lines[start:at]).rstrip().split("\n")
            yield Block("code", tuple(body), lead="  ")
        else:
            at, words = _gather(lines, at + 1, [line.strip()])
            yield Block("text", (" ".join(words),), lead=" " * (len(line) - len(line.lstrip())))
        after_item = item is not None
        gap = False


def _gather(
    lines: list[str], at: int, words: list[str], in_list: bool = False
) -> tuple[int, list[str]]:
    """The lines that go on with a paragraph or a list item."""
    while at < len(lines):
        line = lines[at]
        begins = line.lstrip().startswith(("```", "|", "# ", "## ", "### "))
        # A sum such as "s - t" may be wrapped before its sign: that begins no list.
        listed = _ITEM.match(line) and (in_list or words[-1].endswith(":"))
        if not line.strip() or listed or begins:
            break
        words.append(line.strip())
        at += 1
    return at, words


def render(source: str, width: int, indent: int = 1, style: str = "") -> list[Text]:
    """`source` as lines that fit `width`, each indented by `indent`."""
    out: list[Text] = []
    for block in blocks(source):
        if out and not block.tight:
            out.append(Text(""))
        out.extend(_render_block(block, width, indent, style))
    return out


def _render_block(block: Block, width: int, indent: int, style: str) -> list[Text]:
    margin = " " * indent
    if block.kind == "code":
        lead = margin + block.lead
        return [Text(lead + line if line.strip() else "", style="cyan") for line in block.lines]
    if block.kind == "table":
        return [Text(margin) + line for line in _table(block.lines, width - indent)]
    text = spans(block.lines[0], "bold" if block.kind == "heading" else style)
    return wrap(text, width, margin + block.lead)


def wrap(text: Text, width: int, lead: str = "", hang: str | None = None) -> list[Text]:
    """`text` wrapped at words: `lead` before the first line, `hang` (or spaces) before others."""
    hang = " " * len(lead) if hang is None else hang
    room = max(20, width - len(lead))
    lines = [
        line for row in text.split("\n") or [text] for line in row.divide(_breaks(row.plain, room))
    ]
    for line in lines:
        line.rstrip()
        line.plain = line.plain.replace(_GLUE, " ")
    return [Text(hang if row else lead) + line for row, line in enumerate(lines)]


def _breaks(text: str, room: int) -> list[int]:
    """Where to cut `text` so that no line is wider than `room`; a longer word is cut itself."""
    from rich.cells import cell_len

    breaks: list[int] = []
    at = 0  # the width of the line so far, its trailing spaces included
    for word in re.finditer(r"\S+\s*|\s+", text):
        size = cell_len(word[0].rstrip())
        if at + size > room and at:
            breaks.append(word.start())
            at = 0
        start = word.start()
        while size > room:
            start += room  # control characters are gone; wide ones make the line a little short
            breaks.append(start)
            size = cell_len(text[start : word.end()].rstrip())
        at += size + cell_len(word[0]) - cell_len(word[0].rstrip())
    return breaks


def _table(lines: tuple[str, ...], width: int) -> list[Text]:
    rows = [
        [cell.strip() for cell in line.strip().strip("|").split("|")]
        for line in lines
        if not _RULE.match(line)
    ]
    cells = [[spans(cell) for cell in row] for row in rows]
    for cell in (cell for row in cells for cell in row):
        cell.plain = cell.plain.replace(_GLUE, " ")
    columns = max(len(row) for row in cells)
    widths = [
        max((row[c].cell_len for row in cells if c < len(row)), default=0) for c in range(columns)
    ]
    out: list[Text] = []
    for number, row in enumerate(cells):
        line = Text("  ")
        for column, cell in enumerate(row):
            line.append_text(cell)
            if column + 1 < len(row):
                line.append(" " * (widths[column] - cell.cell_len + 3))
        if number == 0 and len(rows) > 1:
            line.stylize("bold")
        line.truncate(width, overflow="ellipsis")
        out.append(line)
    return out
