"""`drill start --edit`: the editor that the environment names, with its arguments."""

from __future__ import annotations

from pathlib import Path

import pytest
from conftest import Drill


@pytest.fixture
def editor(tmp_path: Path) -> Path:
    """Writes down what it was called with."""
    path = tmp_path / "my editor.sh"
    path.write_text(f"#!/bin/sh\nprintf '%s\\n' \"$@\" > '{tmp_path}/called'\n")
    path.chmod(0o755)
    return path


def test_the_editor_gets_its_arguments_and_the_file(drill: Drill, editor: Path):
    ran = drill("start", "gqa", "--edit", VISUAL=f"'{editor}' -w '+5 x'", EDITOR="false")
    assert (ran.code, ran.err) == (0, "")
    called = (editor.parent / "called").read_text().splitlines()
    assert called == ["-w", "+5 x", str(drill.work / "gqa.py")]
    assert (drill.work / "gqa.py").is_file()


@pytest.mark.parametrize(
    ("command", "told"),
    [
        ("/nowhere/vim +5", "The editor /nowhere/vim +5 did not start (No such file"),
        ("vim 'x", "The editor vim 'x did not start (No closing quotation)"),
        ("false", "The editor false failed (status 1)"),
        (" ", "No editor is known: set VISUAL or EDITOR"),
    ],
)
def test_an_editor_that_fails_is_one_sentence(drill: Drill, command: str, told: str):
    ran = drill("start", "gqa", "--edit", EDITOR=command)
    assert ran.code == 4
    assert ran.err.startswith(told)
    assert ran.err.count("\n") == 1
    assert (drill.work / "gqa.py").is_file() == bool(command.strip())
