"""Matrices as people write them: nested lists, what NumPy and torch print, or bare rows."""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction

from grader.answers.reading import Unreadable, plain, shown

Row = list[float]
_CALL = re.compile(
    r"(?<![\w.])(?:[A-Za-z_]\w{0,30}\.){0,4}(?:tensor|array|matrix|Tensor|list)\s*\(", re.I
)
_OPTION = re.compile(
    r"(?:,\s{0,40})?\b(?:dtype|device|requires_grad|grad_fn|size|shape)\s*=\s*"
    r"(?:<[^<>\n]*>|'[^'\n]*'|\"[^\"\n]*\"|torch\.Size\(\[[^\]]*\]\)|\([^()]*\)|[\w.]+)"
)
_ROOT = re.compile(
    r"(?<![\w.])(\d{1,9}(?:\.\d{1,9})?)?(?:√|\\?sqrt)[ \t]{0,4}(?:[({][ \t]{0,4})?"
    r"(\d{1,9}(?:\.\d{1,9})?)(?:[ \t]{0,4}[)}])?"
)
# In this order; each works on a whole text of several lines.
_NOTATION = (
    (re.compile(r"^[ \t]*`{3}.*$|`|\$|\*\*", re.M), ""),
    (re.compile(r"#.*$", re.M), ""),
    (
        re.compile(r"\\begin\{array\}(?:\{[clr|]*\})?|\\(?:begin|end)\{(?:[bpvBV]?matrix|array)\}"),
        "",
    ),
    (re.compile(r"\\\\"), ";"),
    (re.compile(r"\\(?:left|right)|\\[,;:! ()]"), " "),
    (re.compile(r"&"), " "),
    (re.compile(r"\\[dt]?frac\s{0,4}\{([^{}]{0,40})\}\s{0,4}\{([^{}]{0,40})\}"), r"\1/\2"),
    (re.compile(r"(?<![\w.])(?:[A-Za-z_]\w{0,30}\.)?float\d*\(([^()]{0,40})\)"), r"\1"),
    (_OPTION, ""),
    (re.compile(r"\|"), " "),
    # A label before the matrix, on its line or on a line of its own.
    (re.compile(r"^[^\[\];\n]{0,80}[A-Za-z][^\[\];\n]{0,80}[=:≈→]", re.M), ""),
    (
        re.compile(
            r"^(?!.*(?:\binf|\bnan))[ \t]*[A-Za-z][A-Za-z ^_,-]{0,60}(?:\([A-Za-z ,-]{0,40}\))?"
            r"[ \t]*$",
            re.M | re.I,
        ),
        "",
    ),
    (re.compile(r"^[ \t]*(?:step|part)[ \t]*\d+[ \t]*[.:)]?[ \t]*$", re.M | re.I), ""),
    (re.compile(r"^[ \t]*[=≈~→]+", re.M), ""),
    (re.compile(r"(?<=\d) +/ +(?=[-+.\d])"), " ; "),
    (re.compile(r"(\.\d+)\.(?=[ \t]*$)", re.M), r"\1"),
)
_NUMBERED = re.compile(r"^[ \t]*\(?(\d{1,2})(?:\)|[.:])(?=\s|$)", re.M)
_BULLET = re.compile(r"^[ \t]*[-*•][ \t]+", re.M)
_NUMBER = re.compile(
    r"[-+]?(?:(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d{1,3})?|inf(?:inity)?|∞|nan)"
    r"(?:/(?:\d+\.?\d*|\.\d+))?(?![\w.])",
    re.I,
)


@dataclass(frozen=True)
class Matrix:
    """Rows of numbers. `bare` is true for one unbracketed row on a line of its own."""

    rows: tuple[tuple[float, ...], ...]
    bare: bool = False

    @property
    def flat(self) -> list[float]:
        return [x for row in self.rows for x in row]


def read_matrices(text: str, shapes: list[tuple[int, ...]]) -> list[Matrix]:
    """As many matrices as there are `shapes`, in order; their own shapes are not checked.

    One matrix a line with rows apart by `;`, or in brackets over any number of lines. Bare rows,
    one a line, are put together where blank lines or the asked shapes leave one way to do it.
    Numbers 1, 2, ... in front of the matrices are told from entries by the shapes. Raises
    Unreadable with one sentence.
    """
    source = _simplified(text)
    numbers = [match[1] for match in _NUMBERED.finditer(source)]
    if numbers == [str(i) for i in range(1, len(shapes) + 1)]:
        try:
            found = _read(_bracketed(_NUMBERED.sub("", source)), shapes)
        except Unreadable:
            pass
        else:
            if all(map(fitted, found, shapes)):
                return found
    return _read(_bracketed(source), shapes)


def _read(source: str, shapes: list[tuple[int, ...]]) -> list[Matrix]:
    blocks = [_statements(block) for block in re.split(r"\n[ \t]*\n", source)]
    blocks = [block for block in blocks if block]
    found = [matrix for block in blocks for matrix in block]
    if not found:
        raise Unreadable("The answer is empty: write one matrix a line, such as 1 2; 3 4.")
    if len(found) == len(shapes):
        return found
    if len(blocks) == len(shapes) and all(m.bare for m in found):
        return [Matrix(tuple(m.rows[0] for m in block)) for block in blocks]
    heights = [shape[0] if len(shape) > 1 else 1 for shape in shapes]
    if all(m.bare for m in found) and len(found) == sum(heights):
        rows = [m.rows[0] for m in found]
        return [Matrix(tuple(rows.pop(0) for _ in range(height))) for height in heights]
    groups = _groups(source)
    if len(groups) == len(shapes):
        return [_statements(group)[0] for group in groups]
    wanted = "one matrix" if len(shapes) == 1 else f"{len(shapes)} matrices"
    raise Unreadable(
        f"This asks for {wanted}, and {len(found)} can be read: write one a line, rows apart by ;"
        " as in 1 2; 3 4."
    )


def _groups(source: str) -> list[str]:
    """The matrices of one list of matrices, or of several on one line: what stands in brackets
    side by side, each with brackets of its own inside."""
    while True:
        groups: list[str] = []
        depth = start = 0
        for i, char in enumerate(source):
            if char == "[":
                start = start if depth else i
                depth += 1
            elif char == "]":
                depth -= 1
                if not depth:
                    groups.append(source[start : i + 1].replace("\n", " "))
        if len(groups) != 1 or groups[0].count("[") < 3:
            return groups if all(group.count("[") > 1 for group in groups) else []
        source = groups[0][1:-1]


def fitted(matrix: Matrix, shape: tuple[int, ...]) -> list[Row] | None:
    """The matrix as rows of `shape`, or None where its numbers do not fit it.

    A vector is one row. One row with all the numbers is read row by row, a column as a vector.
    """
    height, width = (1, shape[0]) if len(shape) == 1 else (shape[0], shape[1])
    rows = [list(row) for row in matrix.rows]
    if len(rows) == height and all(len(row) == width for row in rows):
        return rows
    flat = matrix.flat
    column = len(shape) == 1 and all(len(row) == 1 for row in rows)
    if len(flat) == height * width and (len(rows) == 1 or column):
        return [flat[i * width : (i + 1) * width] for i in range(height)]
    return None


def size(matrix: Matrix) -> str:
    """`3 x 2`, or `rows of 3, 2 and 3` where they differ."""
    widths = [len(row) for row in matrix.rows]
    if len(set(widths)) == 1:
        return f"{len(widths)} x {widths[0]}"
    return f"rows of {', '.join(map(str, widths[:-1]))} and {widths[-1]}"


def _simplified(text: str) -> str:
    """Labels, LaTeX and printed options away; roots as decimals."""
    text = plain(text)
    if "..." in text or "…" in text:
        raise Unreadable("A matrix is cut short by dots: write or print it in full.")
    text = _ROOT.sub(lambda m: f"{float(m[1] or 1) * float(m[2]) ** 0.5:.12g}", text)
    for pattern, replacement in _NOTATION:
        text = pattern.sub(replacement, text)
    lines = [line for line in text.split("\n") if line.strip()]
    if len(lines) > 1 and all(map(_BULLET.match, lines)):
        text = _BULLET.sub("", text)
    return text


def _bracketed(text: str) -> str:
    """Calls such as `tensor(...)` away, and every other bracket a square one."""
    out: list[str] = []
    calls: list[bool] = []
    at = 0
    while at < len(text):
        call = _CALL.match(text, at)
        if call or text[at] == "(":
            calls.append(bool(call))
            out.append(" " if call else "[")
            at = call.end() if call else at + 1
        elif text[at] == ")":
            out.append(" " if not calls or calls.pop() else "]")
            at += 1
        else:
            out.append({"{": "[", "}": "]"}.get(text[at], text[at]))
            at += 1
    return "".join(out)


def _statements(block: str) -> list[Matrix]:
    """The matrices of a block: a newline ends one, unless a bracket is open."""
    matrices: list[Matrix] = []
    rows: list[Row] = [[]]  # of the statement being read; an empty list is a row just begun
    depth = at = 0
    bracketed = False

    def end_statement() -> None:
        nonlocal rows, bracketed
        kept = [row for row in rows if row]
        if kept:
            matrices.append(Matrix(tuple(map(tuple, kept)), not bracketed and len(kept) == 1))
        rows, bracketed = [[]], False

    while at < len(block):
        char = block[at]
        if char == "[":
            depth += 1
            bracketed = True
            if depth > 4:
                raise Unreadable("The brackets nest too deeply: [[1, 2], [3, 4]] is a matrix.")
            rows.append([])
        elif char == "]":
            depth -= 1
            if depth < 0:
                raise Unreadable("A bracket is closed that was not opened: count the brackets.")
            rows.append([])
        elif char == "\n" and not depth:
            end_statement()
        elif char == ";":
            rows.append([])
        elif not char.isspace() and char != ",":
            match = _NUMBER.match(block, at)
            if match is None:
                raise Unreadable(
                    f"“{shown(block[at:], 12)}” is not a number: write rows of numbers, such as"
                    " 1 2; 3 4."
                )
            rows[-1].append(_value(match[0]))
            at = match.end() - 1
        elif char == "\n" and depth == 1 and rows[-1] and _is_row_end(block, at):
            rows.append([])
        at += 1
    if depth:
        raise Unreadable("A bracket is not closed: count the brackets.")
    end_statement()
    return matrices


def _is_row_end(block: str, at: int) -> bool:
    """Whether a newline inside one pair of brackets ends a row: no comma says it goes on."""
    return not block[:at].rstrip().endswith(",")


def _value(text: str) -> float:
    text = text.replace("∞", "inf")
    if "/" in text:
        top, bottom = text.split("/")
        if Fraction(bottom) == 0 or not re.match(r"[-+]?[\d.]", top):
            raise Unreadable(f"“{shown(text)}” is not a number: check the fraction.")
        return float(Fraction(top) / Fraction(bottom))
    return float(text)
