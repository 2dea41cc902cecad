"""Matrices by hand, and options: read in every form, the first wrong entry told."""

from __future__ import annotations

import math
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from grader.answers import choice, grade_answer, parts, trace
from grader.answers.matrices import Matrix, fitted, read_matrices
from grader.answers.reading import Unreadable
from questions import loader

ROOT = Path(loader.__file__).parent
NUMBERS = st.floats(-1e4, 1e4, allow_nan=False).map(lambda x: round(x, 4))


def question(id_: str) -> dict[str, Any]:
    (path,) = ROOT.glob(f"*/{id_}.yaml")
    return loader.load_file(path).model_dump(mode="json")


def rows(matrix: list[list[float]], between: str = " ", after: str = "; ") -> str:
    return after.join(between.join(f"{x:.4f}" for x in row) for row in matrix)


FORMS = {
    "rows apart by semicolons": rows,
    "commas": lambda m: rows(m, ", "),
    "nested lists": str,
    "a labelled list": lambda m: f"scores = {m}",
    "numpy's print": lambda m: str(np.array(m)),
    "numpy's repr": lambda m: repr(np.array(m)),
    "torch's print": lambda m: repr(torch.tensor(m, dtype=torch.float64)),
    "torch's print, float32": lambda m: repr(torch.tensor(m)),
    "tuples": lambda m: str(tuple(map(tuple, m))),
    "one bracket, rows on lines": lambda m: f"[{rows(m, ' ', chr(10))}]",
    "brackets round each row": lambda m: ", ".join(map(str, m)),
    "row by row in one line": lambda m: rows(m, " ", " "),
    "LaTeX": lambda m: r"\begin{pmatrix}" + rows(m, " & ", r" \\ ") + r"\end{pmatrix}",
}


@pytest.mark.parametrize("form", FORMS)
def test_every_way_to_write_the_matrices_passes(form: str) -> None:
    asked = question("attention-by-hand")
    right = trace.expected(asked, {})
    text = "\n".join(FORMS[form](matrix) for matrix in right.values())
    report = grade_answer(asked, text, 0, {})
    assert report.verdict == "passed", report
    assert [p["id"] for p in parts(asked)] == [p.id for p in report.parts]


@pytest.mark.parametrize("apart", ["\n\n", "\n"])
def test_bare_rows_on_lines_are_put_together(apart: str) -> None:
    asked = question("attention-by-hand")
    right = trace.expected(asked, {})
    text = apart.join(rows(matrix, " ", "\n") for matrix in right.values())
    assert grade_answer(asked, text, 0, {}).verdict == "passed"


def _lines(right: dict[str, list[list[float]]], form: str = "{}") -> str:
    return "\n".join(form.format(rows(m), n=n) for n, m in enumerate(right.values(), 1))


WHOLE = {
    "numbered as the prompt does": lambda r: _lines(r, "{n}. {}"),
    "numbered with brackets": lambda r: _lines(r, "({n}) {}"),
    "numbered with colons": lambda r: _lines(r, "{n}: {}"),
    "bullets": lambda r: _lines(r, "- {}"),
    "labels with formulas": lambda r: _lines(r, "softmax(QK^T/sqrt(2)) V = {}"),
    "labels on lines of their own": lambda r: "\n".join(
        f"the result (causal)\n{rows(m, ' ', chr(10))}" for m in r.values()
    ),
    "numbers on lines of their own": lambda r: "\n".join(
        f"{n}.\n{rows(m, ' ', chr(10))}" for n, m in enumerate(r.values(), 1)
    ),
    "one list of all": lambda r: str(list(r.values())),
    "all lists on one line": lambda r: " ".join(map(str, r.values())),
    "a code block": lambda r: f"```\n{_lines(r)}\n```",
    "remarks": lambda r: _lines(r, "{}  # by hand"),
    "approximate": lambda r: _lines(r, "≈ {}."),
    "rows apart by strokes": lambda r: "\n".join(rows(m, " ", " / ") for m in r.values()),
    "LaTeX between dollars": lambda r: "\n".join(
        r"$\left[\begin{array}{ccc}" + rows(m, " & ", r" \\ ") + r"\end{array}\right]$"
        for m in r.values()
    ),
    "NumPy scalars": lambda r: "\n".join(
        str([[f"np.float64({x})" for x in row] for row in m]).replace("'", "") for m in r.values()
    ),
}


@pytest.mark.parametrize("form", WHOLE)
def test_every_way_to_set_the_whole_answer_passes(form: str) -> None:
    asked = question("attention-by-hand")
    report = grade_answer(asked, WHOLE[form](trace.expected(asked, {})), 0, {})
    assert report.verdict == "passed", report


@pytest.mark.parametrize(
    "scaled",
    [
        "1/sqrt(2) 0 1/sqrt(2); 0 1/sqrt(2) 1/sqrt(2); 1/sqrt(2) 1/sqrt(2) 2/sqrt(2)",
        "1/√2 0 1/√2; 0 1/√2 1/√2; 1/√2 1/√2 √2",
        "√2/2 0 √2/2; 0 √2/2 √2/2; √2/2 √2/2 √(2)",
        r"\frac{1}{\sqrt{2}} 0 \frac{1}{\sqrt{2}}; 0 \frac{1}{\sqrt{2}} \frac{1}{\sqrt{2}};"
        r" \frac{1}{\sqrt{2}} \frac{1}{\sqrt{2}} \sqrt{2}",
    ],
)
def test_roots_may_stand_as_they_are(scaled: str) -> None:
    asked = question("attention-by-hand")
    lines = _lines(trace.expected(asked, {})).split("\n")
    report = grade_answer(asked, "\n".join([lines[0], scaled, *lines[2:]]), 0, {})
    assert report.verdict == "passed", report


def test_a_number_before_a_row_is_an_entry_where_the_shape_needs_it() -> None:
    found = read_matrices("1. 2.\n2. 5.", [(2,), (2,)])
    assert [m.rows for m in found] == [((1.0, 2.0),), ((2.0, 5.0),)]
    found = read_matrices("1. 7 2\n2. 8 5", [(2,), (2,)])
    assert [m.rows for m in found] == [((7.0, 2.0),), ((8.0, 5.0),)]


@pytest.mark.parametrize(
    "text",
    ["1" * 19_000, "\n" * 19_000, " " * 19_000, "a" * 19_000, "tensor(" * 2_500, "sqrt(" * 3_900],
)
def test_a_long_hostile_answer_is_refused_at_once(text: str) -> None:
    start = time.perf_counter()
    with suppress(Unreadable):
        read_matrices(text, [(3, 3)] * 5)
    assert time.perf_counter() - start < 1


@given(
    st.lists(st.lists(NUMBERS, min_size=3, max_size=3), min_size=2, max_size=4),
    st.sampled_from(sorted(FORMS)),
)
@settings(max_examples=150, deadline=None)
def test_a_written_matrix_reads_back(matrix: list[list[float]], form: str) -> None:
    shape = (len(matrix), 3)
    (read,) = read_matrices(FORMS[form](matrix), [shape])
    back = fitted(read, shape)
    assert back is not None
    for given_row, row in zip(back, matrix, strict=True):
        for x, y in zip(given_row, row, strict=True):
            assert math.isclose(x, y, rel_tol=1e-3, abs_tol=2e-4)


@given(st.text("0123456789.,;:[](){}-+/e \nainftensor=", max_size=200))
@settings(max_examples=400, deadline=500)
def test_any_text_reads_or_is_refused(text: str) -> None:
    with suppress(Unreadable):
        read_matrices(text, [(2, 2)])


def test_fractions_infinities_and_a_vector_are_read() -> None:
    (read,) = read_matrices("1/2, -1/4, -inf", [(3,)])
    assert fitted(read, (3,)) == [[0.5, -0.25, -math.inf]]
    (column,) = read_matrices("[[1], [2]]", [(2,)])
    assert fitted(column, (2,)) == [[1.0, 2.0]]
    assert fitted(Matrix(((1.0, 2.0),)), (2, 2)) is None


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "empty"),
        ("[[1, 2], [3, 4]]\n[[1, 2], [3, 4]]", "one matrix, and 2"),
        ("[[1, 2], [3, 4]", "not closed"),
        ("1 2]", "not opened"),
        ("[[[[[[1]]]]]]", "too deeply"),
        ("1 2 ... 3", "in full"),
        ("a b; c d", "not a number"),
        ("1/0 2; 3 4", "fraction"),
        ("os.system('x')", "not a number"),
        ("1 2\x1b[31m", "control character"),
        ("1 " * 20_000, "characters"),
    ],
)
def test_what_cannot_be_read_says_what_to_write(text: str, says: str) -> None:
    with pytest.raises(Unreadable, match=says):
        read_matrices(text, [(2, 2)])


def test_the_first_wrong_entry_is_told_with_its_step() -> None:
    asked = question("attention-by-hand")
    right = {part: [list(row) for row in m] for part, m in trace.expected(asked, {}).items()}
    right["weights-causal"][2][1] += 0.02
    right["weights-causal"][2][2] -= 0.02
    report = grade_answer(asked, "\n".join(map(rows, right.values())), 0, {})
    assert report.verdict == "partial"
    assert report.score == 0.8
    wrong = report.parts[2]
    assert "row 2, column 1, counted from 0 (2 of 9 are wrong)" in wrong.message
    assert asked["parts"][2]["step"].strip() in wrong.message
    assert report.mistakes == ()


def test_half_a_hundredth_is_allowed_and_more_is_not() -> None:
    asked = question("attention-by-hand")
    for off, verdict in ((0.005, "passed"), (0.006, "partial")):
        right = {part: [list(row) for row in m] for part, m in trace.expected(asked, {}).items()}
        right["scores"][0][0] += off
        assert grade_answer(asked, "\n".join(map(str, right.values())), 0, {}).verdict == verdict


def test_a_known_wrong_matrix_is_named() -> None:
    asked = question("attention-by-hand")
    right = trace.expected(asked, {})
    for mistake in asked["mistakes"]:
        answer = {**right, mistake["part"]: trace.mistaken(mistake, {})}
        report = grade_answer(asked, "\n".join(map(rows, answer.values())), 0, {})
        assert [m.id for m in report.mistakes] == [mistake["id"]]


def test_a_wrong_shape_and_a_decimal_comma_are_told() -> None:
    asked = {**question("attention-by-hand")}
    asked["parts"] = asked["parts"][:1]
    report = grade_answer(asked, "1 2; 3 4", 0, {})
    assert report.parts[0].message == "3 x 3 numbers are asked for, and this is 2 x 2."
    commas = grade_answer(asked, "1,0 0,0 1,0; 0,0 1,0 1,0; 1,0 1,0 2,0", 0, {})
    assert commas.verdict == "invalid"
    assert "decimals with a point" in commas.summary
    assert grade_answer(asked, "nan 0 1; 0 1 1; 1 1 2", 0, {}).verdict == "wrong_answer"


def _choice(several: bool) -> dict[str, Any]:
    correct = (False, True, False, True) if several else (False, True, False, False)
    options = [
        {"id": f"option-{i}", "text": f"text {i}", "correct": c, "explanation": f"why {i}"}
        for i, c in enumerate(correct)
    ]
    return {"id": "q", "kind": "choice", "several": several, "options": options}


@pytest.mark.parametrize(
    "text",
    ["b", "B", "b)", "(b)", "b.", "2", "option-1", " Answer: b ", "**b**", "`b`", '"b"', "b!"],
)
def test_one_option_may_be_named_in_many_ways(text: str) -> None:
    report = grade_answer(_choice(False), text, 0, {})
    assert report.verdict == "passed"
    assert [p.message for p in report.parts] == ["why 0", "why 1", "why 2", "why 3"]


@pytest.mark.parametrize("text", ["b, d", "b d", "bd", "B and D", "2,4", "d\nb", "b & d", "b;d"])
def test_several_options_may_be_named_in_many_ways(text: str) -> None:
    assert choice.chosen(_choice(True), text) == {1, 3}
    assert grade_answer(_choice(True), text, 0, {}).verdict == "passed"


def test_some_of_several_is_partial_and_a_wrong_one_is_wrong() -> None:
    assert grade_answer(_choice(True), "b", 0, {}).score == 0.5
    assert grade_answer(_choice(True), "b", 0, {}).verdict == "partial"
    report = grade_answer(_choice(True), "a, b, d", 0, {})
    assert (report.verdict, report.score) == ("wrong_answer", 0.0)
    assert [p.verdict for p in report.parts] == ["wrong_answer", "passed", "passed", "passed"]


@pytest.mark.parametrize("text", ["", "e", "5", "0", "b, d", "yes", "\x00", "b" * 600])
def test_no_option_is_invalid_with_one_sentence(text: str) -> None:
    report = grade_answer(_choice(False), text, 0, {})
    assert report.verdict == "invalid"
    assert report.summary.endswith(".")
