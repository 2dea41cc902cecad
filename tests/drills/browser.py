"""Chromium, and axe in it: what a page looks like to those who read it otherwise."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

CHROMIUM = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
)
WIDTHS = (360, 1280)
SCHEMES = ("light", "dark")
PAPER = {"light": "rgb(255, 255, 255)", "dark": "rgb(20, 23, 27)"}


@contextmanager
def browser() -> Iterator[Any]:
    """A headless browser; skips the test where it or what drives it is missing."""
    if CHROMIUM is None:
        pytest.skip("needs Chromium; on Debian: apt-get install chromium")
    api = pytest.importorskip("playwright.sync_api", reason="needs the extra `dev`")
    with api.sync_playwright() as driver:
        opened = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield opened
        opened.close()


def faults(opened: Any, path: Path) -> list[str]:
    """What is wrong with the page in light and dark, on a phone and on a desk, all unfolded:
    axe's violations, sideways scrolling, the wrong paper, and requests for anything else."""
    from axe_playwright_python.sync_playwright import Axe

    found = []
    for width in WIDTHS:
        for scheme in SCHEMES:
            context = opened.new_context(
                viewport={"width": width, "height": 800}, color_scheme=scheme, bypass_csp=True
            )
            page = context.new_page()
            asked: list[str] = []
            page.on("request", lambda request, asked=asked: asked.append(request.url))
            page.goto(path.as_uri())
            page.evaluate("document.querySelectorAll('details').forEach(one => one.open = true)")
            where = f"{width} {scheme}"
            if page.evaluate("document.documentElement.scrollWidth") > width:
                found.append(f"{where}: scrolls sideways")
            paper = page.evaluate("getComputedStyle(document.body).backgroundColor")
            if paper != PAPER[scheme]:
                found.append(f"{where}: on {paper}")
            if asked != [path.as_uri()]:
                found.append(f"{where}: asks for {asked}")
            for fault in Axe().run(page).response["violations"]:
                nodes = [node["html"][:120] for node in fault["nodes"][:3]]
                found.append(f"{where}: {fault['id']}: {fault['help']}: {nodes}")
            context.close()
    return found
