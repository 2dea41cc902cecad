"""Pages of the terminal in a notebook: their colours as HTML, their words as plain text."""

from __future__ import annotations

import contextlib
import html
import io
from collections.abc import Iterator
from typing import Any

from rich.style import Style
from rich.text import Text

REPORT_TYPE = "application/vnd.drill.report+json"
GREY = "#797979"
# By the numbers of a terminal's colours. Each is about as far from white as from a dark theme's
# ground (4.3 to 1), since a page cannot ask which of the two it stands on.
COLOURS = {
    1: "#e23731",
    2: "#108c39",
    3: "#a96c04",
    4: "#2676e7",
    5: "#c840b1",
    6: "#0d859d",
}
# Every property is spelled out: notebooks style <pre> in ways of their own.
_PRE = (
    "margin:0;padding:0;border:0;background:none;color:inherit;font-size:inherit;line-height:1.35;"
    "font-family:var(--jp-code-font-family,ui-monospace,Menlo,Consolas,monospace);"
    "white-space:pre;overflow-x:auto"
)


class Page(io.StringIO):
    """What a command printed. Looks like a terminal to it, so that it comes with its styles.

    `report`, where there is one, goes along as JSON of the type `REPORT_TYPE`.
    """

    report: dict[str, Any] | None = None

    def isatty(self) -> bool:
        return True

    @property
    def text(self) -> Text:
        return Text.from_ansi(self.getvalue().rstrip("\n"))

    def __repr__(self) -> str:
        return self.text.plain

    def _repr_html_(self) -> str:
        return f'<pre style="{_PRE}">{_spans(self.text)}</pre>'

    def _repr_mimebundle_(self, **_: object) -> dict[str, Any]:
        return {} if self.report is None else {REPORT_TYPE: self.report}


class _Talk(io.StringIO):
    """Standard error on the same page; no terminal, so that nothing blinks."""

    def __init__(self, page: Page) -> None:
        super().__init__()
        self._page = page

    def write(self, text: str) -> int:
        return self._page.write(text)


@contextlib.contextmanager
def printed() -> Iterator[Page]:
    """Both standard streams of what runs meanwhile, in order. There is nothing to read for it:
    a prompt on a captured page would wait for ever."""
    page = Page()
    nothing = io.TextIOWrapper(io.BytesIO(), encoding="utf-8")
    with (
        contextlib.redirect_stdout(page),
        contextlib.redirect_stderr(_Talk(page)),
        _redirect_stdin(nothing),
    ):
        yield page


class _redirect_stdin(contextlib.redirect_stdout[io.TextIOWrapper]):
    _stream = "stdin"


def _spans(text: Text) -> str:
    parts, at = [], 0
    for span in text.spans:
        style = _css(Style.parse(span.style) if isinstance(span.style, str) else span.style)
        inner = html.escape(text.plain[span.start : span.end])
        parts.append(html.escape(text.plain[at : span.start]))
        parts.append(f'<span style="{style}">{inner}</span>' if style else inner)
        at = span.end
    return "".join([*parts, html.escape(text.plain[at:])])


def _css(style: Style) -> str:
    rules = []
    number = style.color.number if style.color else None
    if number is not None and number % 8 in COLOURS:  # 8 to 15 are the same ones, bright
        rules.append(f"color:{COLOURS[number % 8]}")
    elif style.dim or number == 8:
        rules.append(f"color:{GREY}")
    if style.bold:
        rules.append("font-weight:bold")
    if style.italic:
        rules.append("font-style:italic")
    return ";".join(rules)
