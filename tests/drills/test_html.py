from __future__ import annotations

import re
import subprocess
import sys
from itertools import pairwise
from pathlib import Path
from typing import Any

import pages
import pytest
from conftest import Drill
from hypothesis import given
from hypothesis import strategies as st

from drills import html
from drills.errors import DrillError
from drills.html import svg

PARTS = Path(html.__file__).parent


def drawn(name: str = "one") -> Any:
    def draw(figure: Any) -> None:
        axes = figure.subplots()
        axes.plot([1, 2, 3], [1, 3, 2], marker="o", label="a & <b>")
        axes.scatter([1, 2], [2, 2], color=svg.HEAT[2])
        axes.set_title("a & <b>")
        axes.grid(axis="y")
        axes.legend()

    return svg.picture(name, "title & <t>", "description", draw)


@pytest.fixture
def template(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Any:
    """A page of the test's own, beside the real templates."""
    from jinja2 import ChoiceLoader, DictLoader

    from drills.html.pages import _environment

    body = (
        '{% extends "base.j2" %}{% from "parts.j2" import section, table, figure, bar %}'
        '{% block lead %}<p class="lead">{{ words }}</p>{% endblock %}'
        '{% block main %}{% call section("one", "One") %}'
        "{% for picture in pictures %}"
        '{{ figure(picture, words, words, ("x", "y"), ((words, 2),)) }}{% endfor %}'
        "{{ bar(3, 5, words) }}{% endcall %}{% endblock %}"
    )
    environment = _environment()
    both = ChoiceLoader([DictLoader({"mine.j2": body}), environment.loader])  # type: ignore[list-item]
    monkeypatch.setattr(environment, "loader", both)
    return None


def made(words: str, *pictures: Any) -> str:
    return html.page("Mine", "mine", words=words, pictures=pictures, sections=[("one", "One")])


def test_a_page_with_two_pictures_is_whole_in_itself_and_marked_up(template: None):
    page = made("words", drawn("one"), drawn("two"))
    outline = pages.check(page)
    assert outline.tags().count("svg") == 2
    assert "nav" in outline.tags()


def test_the_check_of_pages_can_fail(template: None):
    page = made("words", drawn("one"), drawn("two"))
    for broken in (
        page.replace("two-", "one-"),
        page.replace("<main>", '<main><a href="https://example.org">x</a>'),
        page.replace("<h2", "<h3").replace("</h2>", "</h3>"),
        page.replace("</main>", "<script></script></main>"),
    ):
        with pytest.raises(AssertionError):
            pages.check(broken)


def test_text_from_outside_cannot_become_markup_or_hide(template: None):
    page = made("<script>alert(1)</script>\" onload='x' \x1b[31m\u202e\x00")
    outline = pages.check(page)
    assert outline.values("aria-label")[-1].startswith("<script>")
    assert "\\x1b[31m\\u202e\\x00" in page
    assert "onload" not in [name for _, attrs in outline.elements for name in attrs]


@given(st.text(max_size=30))
def test_no_text_breaks_a_page(words: str):
    page = html.page("T " + words, "base")
    pages.check(page)
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e]", page)


def test_a_picture_follows_the_reader_s_colours_and_is_the_same_each_time():
    first = str(drawn())
    assert first == str(drawn())
    assert "#0100" not in first
    assert set(re.findall(r"(?:fill|stroke): ([^;\"]*)", first)) <= {
        "none", "currentColor", *(f"var(--{n})" for n in ("soft", "line", "series-1", "heat-2")),
    }  # fmt: skip
    assert "title &amp; &lt;t&gt;" in first
    assert "a &amp; &lt;b&gt;</text>" in first


def colours() -> dict[str, dict[str, str]]:
    style = (PARTS / "style.css").read_text()
    light, dark = re.findall(r":root \{(.*?)\}", style, re.DOTALL)
    return {
        name: dict(re.findall(r"--([\w-]+): (#\w{6});", block))
        for name, block in (("light", light), ("dark", dark))
    }


def contrast(one: str, other: str) -> float:
    """The ratio of WCAG 2, from 1 to 21."""

    def luminance(colour: str) -> float:
        parts = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
        red, green, blue = (
            part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
        )
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue

    dark, light = sorted((luminance(one), luminance(other)))
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_words_and_lines_stand_out_from_the_paper(scheme: str):
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    found = colours()[scheme]
    assert found.keys() == colours()["light"].keys()
    for paper in ("paper", "card"):
        for words in ("ink", "soft", "link", "good", "bad"):
            assert contrast(found[words], found[paper]) >= 4.5, words
        for line in [name for name in found if name.startswith("series")]:
            assert contrast(found[line], found[paper]) >= 3, line
    steps = [contrast(found[f"heat-{n}"], found["paper"]) for n in range(5)]
    assert steps == sorted(steps)
    assert all(after / before >= 1.3 for before, after in pairwise(steps))


def test_a_page_replaces_its_like_and_nothing_else(tmp_path: Path):
    path = tmp_path / "mine.html"
    assert html.write(html.page("One", "base"), path, "base").endswith(" kB")
    html.write(html.page("Two", "base"), path, "base")
    assert "<h1>Two</h1>" in path.read_text()
    for other in ("notes of mine", html.page("One", "base").replace("drill base", "drill mock")):
        path.write_text(other)
        with pytest.raises(DrillError, match="--force") as refused:
            html.write(html.page("Three", "base"), path, "base")
        assert (refused.value.code, path.read_text()) == (2, other)
    html.write(html.page("Three", "base"), path, "base", force=True)
    assert "<h1>Three</h1>" in path.read_text()
    with pytest.raises(DrillError, match="folder"):
        html.write("", tmp_path, "base")
    with pytest.raises(DrillError, match="cannot be written") as failed:
        html.write("", tmp_path / "no" / "such.html", "base")
    assert failed.value.code == 4
    assert list(tmp_path.iterdir()) == [path]


def test_a_home_that_cannot_be_written_is_no_talk_of_matplotlib(drill: Drill):
    code = "from drills.html import svg; svg.picture('a', 'b', 'c', lambda figure: None)"
    (drill.home / "cache" / "matplotlib").write_text("no folder")
    done = subprocess.run(
        [sys.executable, "-c", code], env=drill.env, cwd=drill.work, capture_output=True, text=True
    )
    assert (done.returncode, done.stderr) == (0, "")
