"""Reports and lists as lines of text, made from given facts: what a learner reads, and how wide."""

from __future__ import annotations

from datetime import timedelta

import pytest
from facts import START
from rich.text import Text

from drills.choose import Standing
from drills.screen import pages
from drills.screen.markdown import render, wrap
from drills.screen.report import next_actions, report_lines
from drills.sitting import Sitting
from drills.submit import Outcome
from grader.report import Check, NamedMistake, Part, Report, Sample


def made(kind: str = "code", verdict: str = "wrong_answer", **more) -> Report:
    return Report(question="some-id", kind=kind, verdict=verdict, score=0.0, seed=7, **more)


def shown(report: Report, width: int = 80) -> str:
    return "\n".join(line.plain for line in report_lines(Outcome(report), width))


def test_a_named_mistake_in_code_completes_a_sentence():
    found = (
        NamedMistake("a", "RoPE turned clockwise", "Why."),
        NamedMistake("b", "attention without the scale 1/sqrt(D)", "Because."),
    )
    check = Check("values/x", "wrong_answer", "", "a case")
    text = shown(made(summary=" · ".join(m.title for m in found), mistakes=found, checks=(check,)))
    assert " This is RoPE turned clockwise.\n" in text
    assert " It is also attention without the scale 1/sqrt(D).\n" in text
    assert text.count("RoPE turned clockwise") == 1  # the summary says no more than the names


def test_a_slip_in_a_number_is_named_before_the_working_that_gives_it_away():
    mistake = NamedMistake("k-without-v", "Keys counted without values", "K and V are cached.")
    part = Part("answer", "wrong_answer", "2 · 36 · 128 = 9.66 GB", "the size", "4.83 GB")
    report = made("compute", summary="Half of the right value.", parts=(part,), mistakes=(mistake,))
    text = shown(report)
    order = [text.index(words) for words in ("Half of", "Keys counted without values.", "9.66 GB")]
    assert order == sorted(order)
    assert "This is" not in text


def test_an_answer_that_cannot_be_read_is_told_so_once():
    reason = "No number where one is expected, at “banana”."
    part = Part("answer", "invalid", reason, "the size", "banana")
    assert shown(made("compute", "invalid", summary=reason, parts=(part,))).count("banana") == 1


def test_a_mistake_told_at_its_step_is_not_told_again():
    says = "That is the variance. The standard deviation is its square root."
    parts = (
        Part("var-dot", "passed", "", "the variance", "d"),
        Part("std-dot", "wrong_answer", says, "the deviation", "d"),
    )
    mistake = NamedMistake("variance-for-deviation", "variance for deviation", says)
    text = shown(
        made("derive", "partial", summary="1 of 2 steps right.", parts=parts, mistakes=(mistake,))
    )
    assert text.count("square root") == 1
    assert text.count("1 of 2 steps") == 1
    assert "std-dot" not in text
    assert "2. the deviation" in text


def test_options_are_marked_by_what_holds_and_by_what_was_chosen():
    parts = (
        Part("x", "wrong_answer", "It raises.", "`q @ k`, as it\nstands\n", "chosen"),
        Part("y", "passed", "It is wrong.", "the second\n", "not chosen"),
        Part("z", "wrong_answer", "Right: it fits.", "the third " + "word " * 20, "not chosen"),
    )
    lines = shown(made("choice", summary="Not quite: c holds.", parts=parts)).split("\n")
    text = "\n".join(lines)
    assert " ✗ a) q @ k, as it stands  ← your choice" in lines
    assert "   b) the second" in lines
    assert any(line.startswith(" ✓ c) the third") for line in lines)
    assert "← missed" in text
    assert "`" not in text
    assert "not chosen" not in text


def test_planted_bugs_are_told_a_line_each_and_unknown_ones_not_by_name():
    checks = (
        Check("values/x", "wrong_answer", "", "a case"),
        Check("bug/a", "skipped", "The numbers do not say.", "attention scaled twice"),
        Check("bug/b", "wrong_answer", "Still there: x.", "attention masked after the softmax"),
        Check("bug/c", "passed", "", "attention that rotates the values too"),
    )
    lines = shown(made("debug", summary="1 case is wrong.", checks=checks)).split("\n")
    assert "   ✓ gone         attention that rotates the values too" in lines
    assert "   ✗ still there  attention masked after the softmax" in lines
    assert "   ? not to tell  1 bug: the numbers do not say whether it is still there" in lines
    assert "scaled twice" not in "\n".join(lines)
    assert "Still there" not in "\n".join(lines)


def test_a_shape_that_fails_and_one_that_is_skipped_for_it_have_names_of_their_own():
    sizes = range(6)
    wide = [Check(f"support/w{n}", "runtime_error", "", f"width {n}") for n in sizes]
    half = [Check(f"support/w{n}/bfloat16", "skipped", "", f"width {n}, bfloat16") for n in sizes]
    text = shown(made("kernel", "runtime_error", checks=(wide[0], half[0])))
    assert "failed  width 0" in text
    assert "skipped width 0, bfloat16" in text
    text = shown(made("kernel", "runtime_error", checks=(*wide, *half)))
    assert "failed  shapes of the support matrix (6)" in text
    assert "skipped other calls of the support matrix (6)" in text


@pytest.mark.parametrize("verdict", ["forbidden", "crashed", "time_limit"])
def test_a_run_that_was_stopped_first_counts_no_checks(verdict: str):
    checks = (
        Check("load", "passed", "", "the file loads"),
        Check("shape", "skipped", "", "shapes"),
        Check("values/x", verdict, "It stopped.", "a case"),
        Check("values/y", "skipped", "", "another"),
    )
    head = shown(made(verdict=verdict, summary="It stopped.", checks=checks)).split("\n")[0]
    assert "stopped before any result" in head
    assert " of 4 checks" not in head
    later = (*checks[:2], Check("values/w", "passed", "", "first"), *checks[2:])
    head = shown(made(verdict=verdict, summary="It stopped.", checks=later)).split("\n")[0]
    assert "2 of 5 checks" in head


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("mine.py", "paste this into Python, started here:"),
        ("my work/mine.py", "paste this into Python (cd 'my work'; python):"),
        ("my-file.py", "paste this into Python where your code is mine.py:"),
        ("", "paste this into Python where your code is mine.py:"),
    ],
)
def test_the_program_says_where_to_start_python(path: str, said: str):
    code = ("from torch import randn; from mine import f", "print(f(randn(2)))")
    report = made(sample=Sample(code=code, shown="1", expected="2"))
    text = "\n".join(line.plain for line in report_lines(Outcome(report, path=path), 80))
    assert said in text


@pytest.mark.parametrize("width", [40, 60, 80, 100])
def test_nothing_but_a_command_is_wider_than_the_screen(width: int):
    parts = tuple(Part(f"p{i}", "wrong_answer", "word " * 30, "asks\nfor " * 9, "1") for i in "ab")
    report = made("trace", "partial", summary="x " * 60, parts=parts, notes=("note " * 40,))
    assert all(len(line) <= width for line in shown(report, width).split("\n"))
    layer = "no file or network sandbox yet: " + "word " * 40
    told = ("tier 1 of 3: limits alone", "limits: 10 s", layer)
    outcome = Outcome(made(isolation=told, checks=(Check("values/x", "wrong_answer"),)))
    lines = [line.plain for line in next_actions(outcome, 80)]
    assert lines[1:3] == [
        " Isolation tier 1 of 3: limits alone",
        "           no file or network sandbox yet; see: drill doctor",
    ]


def test_when_all_hints_are_spent_the_solution_is_what_is_left():
    last = next_actions(Outcome(made(), no_hints_left=True), 80)[-1].plain
    assert last.endswith("drill solution some-id")
    assert next_actions(Outcome(made()), 80)[-1].plain.endswith("drill hint some-id")


def test_a_sum_that_is_wrapped_before_its_sign_begins_no_list():
    plain = [line.plain for line in render("query i sits at s - t\n+ i. So one\n2. two\n- x", 80)]
    assert plain == [" query i sits at s - t + i. So one 2. two - x"]
    listed = [line.plain for line in render("As follows:\n- one\n- two\n\n1. three", 80)]
    assert listed == [" As follows:", "", "  · one", "  · two", "", "  1. three"]


def test_wrapping_keeps_the_lines_of_a_text():
    lines = [line.plain for line in wrap(Text("one\ntwo " + "word " * 20), 40, " PROBLEM  ")]
    assert lines[:2] == [" PROBLEM  one", " " * 10 + "two word word word word word"]


def standing(status: str, passed: bool = False, days: float | None = None) -> Standing:
    due = None if days is None else START + timedelta(days=days)
    return Standing(status, passed, 1, Sitting(), None, due)


@pytest.mark.parametrize("width", [40, 55, 80, 120])
def test_the_list_cuts_nothing_short(width: int, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", str(width))
    question = {"kind": "compute", "level": 1, "minutes": 15, "topic": "flash-attention"}
    rows = [
        ({**question, "id": "explain-three-sentences"}, standing("missed", days=1)),
        ({**question, "id": "b", "topic": "attention-cost"}, standing("learned", True, days=9)),
        ({**question, "id": "c"}, standing("unfinished")),
    ]
    pages.print_list(rows, START)
    lines = capsys.readouterr().out.splitlines()
    text = "\n".join(lines)
    assert [line.strip() for line in lines if "attention" in line] == [
        "flash-attention",
        "attention-cost",
    ]
    assert "explain-three-sentences" in text
    assert max(map(len, lines)) <= width
    if width >= 80:
        assert "…" not in text
        assert "missed, back tomorrow" in text
        assert " ✓  b " in text
        assert "back in 9 days" in text


def test_lines_of_the_file_stand_at_the_left_edge_as_editors_read_them():
    raised = 'Traceback\n  File "rope.py", line 7, in rope\n    x / 0\n'
    found = Outcome(made(verdict="runtime_error", traceback=raised), path="sub/rope.py")
    rows = [line.plain for line in report_lines(found, 80)]
    assert "sub/rope.py:7: in rope" in rows
    check = Check("cost/a", "too_costly", "Line 6 makes much.", "no tensor of T x S", 6)
    costly = Outcome(made(verdict="too_costly", checks=(check, check)), path="sub/rope.py")
    rows = [line.plain for line in report_lines(costly, 80)]
    assert rows.count("sub/rope.py:6: no tensor of T x S") == 1
