"""Each page that drill writes, in Chromium, judged by axe. A new page is one more in PAGES."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import candidates
import pages
import pytest
from browser import browser, faults
from conftest import Drill
from histories import fill

from questions import index


def a_report(drill: Drill) -> Path:
    fill(drill.home)
    assert drill("report", "--out", "page.html").code == 0
    return drill.work / "page.html"


def a_report_of_nothing(drill: Drill) -> Path:
    assert drill("report", "--out", "page.html").code == 0
    return drill.work / "page.html"


MHA = "causal-mha"  # one piece of code, so that a mistake is named


def a_debrief(drill: Drill) -> Path:
    bank = index.load().questions
    kinds = ("explain", "derive", "choice")
    half = {i: q for n, (i, q) in enumerate(bank.items()) if n % 2 and q["kind"] in kinds}
    answers = {i: candidates.right(q, 1) for i, q in half.items()}
    wrong = {i: q for i, q in bank.items() if i not in half and q["kind"] in (*kinds, "compute")}
    answers |= {i: candidates.wrong(q) for i, q in {**wrong, MHA: bank[MHA]}.items()}
    (drill.work / "answers.json").write_text(json.dumps(answers))
    script = ("--answers", "answers.json", "--out", "page.html")
    assert drill("mock", "--seed", "8", *script).code == 0
    return drill.work / "page.html"


def a_debrief_of_nothing(drill: Drill) -> Path:
    assert drill("mock", "--answers", "-", "--out", "page.html", stdin="end\n").code == 0
    return drill.work / "page.html"


PAGES: dict[str, Callable[[Drill], Path]] = {
    "report": a_report,
    "report of nothing": a_report_of_nothing,
    "debrief": a_debrief,
    "debrief of nothing": a_debrief_of_nothing,
}


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    with browser() as opened:
        yield opened


@pytest.mark.parametrize("name", PAGES)
def test_every_page_can_be_read_by_everyone(chromium: Any, drill: Drill, name: str):
    path = PAGES[name](drill)
    pages.check(path.read_text())
    assert faults(chromium, path) == []


def test_what_is_wrong_with_a_page_is_found(chromium: Any, tmp_path: Path):
    path = tmp_path / "page.html"
    path.write_text(
        '<html><body style="background: #fff; color: #ccc"><h3>x</h3><svg role="img"></svg>'
        '<img src="no.png"><div style="width: 900px">pale words</div></body></html>'
    )
    found = "\n".join(faults(chromium, path))
    for fault in ("color-contrast", "svg-img-alt", "image-alt", "html-has-lang", "region",
                  "360 light: scrolls sideways", "1280 dark: on", "asks for"):  # fmt: skip
        assert fault in found
