"""Facts into a page, by the jinja2 templates beside this file, and a page into a file."""

from __future__ import annotations

import os
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from drills import clock
from drills.errors import UNUSABLE, USAGE, DrillError
from drills.screen.safe import safe

if TYPE_CHECKING:
    from jinja2 import Environment

_HEAD = 1024  # bytes that hold the mark of a page


@lru_cache(maxsize=1)
def _environment() -> Environment:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    return Environment(
        loader=FileSystemLoader(Path(__file__).parent),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def page(title: str, template: str, **facts: Any) -> str:
    """The HTML of `template`.j2, which extends base.j2 and fills its blocks `lead` and `main`.

    Every fact is escaped but the pictures of `drills.html.svg`, and hidden characters are spelled
    out (\\x1b). `sections`, if given, are pairs of (id, heading) for the list at the top.
    """
    facts.setdefault("sections", ())
    made = clock.now().astimezone()
    rendered = _environment().get_template(f"{template}.j2").render(
        title=title, mark=_mark(template), made=made, **facts
    )  # fmt: skip
    return safe(rendered)


def _mark(template: str) -> str:
    return f"drill {template}"


def check(path: Path, template: str, force: bool = False) -> None:
    """Raises DrillError (exit 2) where `write` would: before the work of making a page."""
    if path.is_dir():
        raise DrillError(f"{path} is a folder: name a file in it.", USAGE)
    if path.exists() and not path.is_file():
        raise DrillError(f"{path} is no file that a page can be written to: name another.", USAGE)
    try:
        ours = force or not path.exists() or _is_page(path, template)
    except OSError as error:
        raise DrillError(f"{path} cannot be read ({error.strerror}).", UNUSABLE) from error
    if not ours:
        raise DrillError(
            f"{path} is not a page that drill {template} wrote, and was left alone: "
            "name another file, or add --force.",
            USAGE,
        )


def write(html: str, path: Path, template: str, force: bool = False) -> str:
    """Put the page where `path` says, whole or not at all; returns its size in words.

    Raises DrillError: exit 2 where `path` is a folder, or a file that is not an earlier page of
    `template` (unless `force`), exit 4 where it cannot be written.
    """
    check(path, template, force)
    data = html.encode()
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        temporary.write_bytes(data)
        temporary.replace(path)  # the page of before stays whole until this one is
    except OSError as error:
        with suppress(OSError):
            temporary.unlink()
        raise DrillError(f"{path} cannot be written ({error.strerror}).", UNUSABLE) from error
    return f"{max(1, round(len(data) / 1000)):,} kB"


def _is_page(path: Path, template: str) -> bool:
    with path.open("rb") as file:
        return f'<meta name="generator" content="{_mark(template)}">'.encode() in file.read(_HEAD)
