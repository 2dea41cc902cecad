"""Each page that drill writes, in Chromium, judged by axe. A new page is one more in PAGES."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pages
import pytest
from browser import browser, faults
from conftest import Drill
from histories import fill


def a_report(drill: Drill) -> Path:
    fill(drill.home)
    assert drill("report", "--out", "page.html").code == 0
    return drill.work / "page.html"


def a_report_of_nothing(drill: Drill) -> Path:
    assert drill("report", "--out", "page.html").code == 0
    return drill.work / "page.html"


PAGES: dict[str, Callable[[Drill], Path]] = {
    "report": a_report,
    "report of nothing": a_report_of_nothing,
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
