"""What a learner reads of a kernel's slow paths."""

from __future__ import annotations

from dataclasses import replace

from drills.screen.kernel import kernel_lines
from grader.report import Path, Paths, Report

USUAL = Path("head width 64", (1.0, 0.9, 1.1), slow=False)
SLOW = Path("head width 80", (11.4, 9.77, 14.62), slow=True)
PERHAPS = Path("257 queries and keys", (3.2, 2.5, 4.0), slow=None)


def told(paths: Paths) -> str:
    report = Report("fused-attention", "kernel", "passed", 1.0, 3)
    lines = kernel_lines(replace(report, paths=paths), 80)
    assert all(len(line.plain) <= 80 for line in lines)
    return " ".join(" ".join(line.plain.split()) for line in lines)


def test_a_slow_path_is_told_with_how_much_slower_it_is() -> None:
    words = told(Paths((USUAL, SLOW), 7))
    assert "slow path: head width 80, 11.40 x (9.77 to 14.62) the others' time" in words
    assert "head width 64" not in words


def test_what_is_not_certain_is_told_as_such_and_an_exception_by_its_shape() -> None:
    words = told(Paths((USUAL, PERHAPS), 15, ("head width 96",)))
    assert "perhaps a slow path (not certain): 257 queries and keys" in words
    assert "an exception here: head width 96" in words


def test_no_slow_path_is_told_too_and_so_is_why_nothing_was_measured() -> None:
    assert "no slow path: 2 shapes of nearly the same work" in told(Paths((USUAL, USUAL), 3))
    assert told(Paths(unreliable="Too few rounds.")).endswith("Too few rounds.")
