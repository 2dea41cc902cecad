"""What every page that drill writes must keep to, read off its text."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from itertools import pairwise

VOID = {"meta", "link", "br", "hr", "img", "input"}


class Outline(HTMLParser):
    """The elements of a page: (tag, attributes), in order; fails where they do not nest."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str]]] = []
        self._open: list[str] = []
        self.feed(html)
        self.close()
        assert self._open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, {name: value or "" for name, value in attrs}))
        if tag not in VOID:
            self._open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, {name: value or "" for name, value in attrs}))

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def values(self, attribute: str) -> list[str]:
        return [attrs[attribute] for _, attrs in self.elements if attribute in attrs]

    def tags(self) -> list[str]:
        return [tag for tag, _ in self.elements]


def check(html: str) -> Outline:
    """Assert that a page is whole in itself, and marked up for those who do not see it."""
    page = Outline(html)
    tags = page.tags()
    for reference in (*page.values("src"), *page.values("href"), *page.values("xlink:href")):
        assert reference.startswith("#"), reference
    assert not {"script", "link", "img", "iframe", "object", "embed"} & set(tags)
    assert not re.search(r"url\((?!#)|@import|javascript:", html)
    ids = page.values("id")
    assert len(ids) == len(set(ids))
    named = [word for value in page.values("aria-labelledby") for word in value.split()]
    linked = [value[1:] for value in page.values("href")]
    referred = re.findall(r"url\(#([^)]*)\)", html)
    assert {*named, *linked, *referred} <= set(ids)
    for landmark in ("header", "main", "footer", "h1"):
        assert tags.count(landmark) == 1
    levels = [int(tag[1]) for tag in tags if re.fullmatch("h[1-6]", tag)]
    assert levels[0] == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))
    assert tags.count("caption") == tags.count("table")
    for tag, attrs in page.elements:
        assert tag != "html" or attrs["lang"] == "en"
        assert tag != "th" or attrs["scope"] in ("row", "col")
        assert tag != "svg" or (attrs["role"] == "img" and "aria-labelledby" in attrs)
    assert tags.count("svg") == html.count("</title>") - 1 == html.count("</desc>")
    return page
