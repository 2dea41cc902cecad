from __future__ import annotations

import io

import pytest
from rich.console import Console
from rich.text import Text

from drills.screen.markdown import render, wrap
from drills.screen.report import report_lines
from drills.screen.safe import one_line, safe
from drills.submit import Outcome
from grader.report import Check, Report


def plain(source: str, width: int = 60) -> list[str]:
    return [line.plain for line in render(source, width)]


def test_paragraphs_are_joined_and_wrapped_within_the_width():
    lines = plain("one two\nthree " + "word " * 40 + "\n\nnext", 40)
    assert lines[0].startswith(" one two three word")
    assert max(map(len, lines)) <= 40
    assert lines[-2:] == ["", " next"]


def test_lists_keep_their_marks_and_hang():
    lines = plain("- first item that is rather long for so narrow a line\n- second\n1. one", 30)
    assert lines[0].startswith("  · first")
    assert lines[1].startswith("    ")
    assert "  · second" in lines
    assert "  1. one" in lines


def test_code_blocks_keep_their_spaces_and_are_not_wrapped():
    code = "def f(x):\n    return x  # " + "long " * 20
    lines = plain(f"```python\n{code}\n```", 40)
    assert lines == [f"   {line}" for line in code.split("\n")]


def test_inline_marks_are_styled_and_gone():
    line = render("use `x @ w.T`, **never** *that* and 2 * 3 * 4", 80)[0]
    assert line.plain == " use x @ w.T, never that and 2 * 3 * 4"
    styles = {str(span.style) for span in line.spans}
    assert {"bold", "italic"} <= styles


def test_inline_code_is_not_broken_at_its_spaces():
    for width in range(30, 60):
        lines = plain("a sentence that comes before `1 2; 3 4; 5 6` and goes on", width)
        assert sum("1 2; 3 4; 5 6" in line for line in lines) == 1


def test_tables_line_up():
    lines = plain("| a | b |\n|---|---|\n| long cell | x |")
    assert lines[0].index("b") == lines[1].index("x")


def test_brackets_that_look_like_markup_are_shown_as_they_are():
    stream = io.StringIO()
    console = Console(file=stream, markup=False, width=80)
    for line in render("[bold]x[/bold] [link=http://e]y[/link] [1, 2]", 80):
        console.print(line)
    assert "[bold]x[/bold] [link=http://e]y[/link] [1, 2]" in stream.getvalue()


@pytest.mark.parametrize("evil", ["\x1b[2J", "\x07", "\x9b31m", "\u202e", "\r", "\ud800", "\x7f"])
def test_control_characters_are_spelled_out(evil: str):
    shown = safe(f"a{evil}b")
    assert shown.startswith("a\\")
    assert shown.encode("utf-8")
    assert evil[0] not in shown
    assert evil[0] not in one_line(evil * 30, 20)


def test_a_report_never_prints_a_control_character():
    evil = "\x1b]0;title\x07\x1b[31m"
    made = Report(
        question="rope",
        kind="code",
        verdict="runtime_error",
        score=0.0,
        seed=1,
        summary=evil,
        checks=(Check("shape", "wrong_answer", evil, evil),),
        certain=(evil,),
        notes=(evil,),
        traceback=evil,
        output=evil,
    )
    text = "\n".join(line.plain for line in report_lines(Outcome(made), 80))
    assert text.count("\\x1b]0;title\\x07") >= 6
    assert "\x1b" not in text
    assert "\x07" not in text


def test_wrap_never_exceeds_the_width_even_for_one_long_word():
    assert all(line.cell_len <= 30 for line in wrap(Text("x" * 100), 30, "   "))
