"""Numbers with units, read as people write them."""

from __future__ import annotations

import json
import subprocess
import sys
from contextlib import suppress
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grader.answers import compute, grade_answer, parameters, parts
from grader.answers.reading import Unreadable
from questions import loader

ROOT = Path(loader.__file__).parent
COMPUTE = sorted(
    path
    for path in ROOT.glob("*/*.yaml")
    if "\nkind: compute\n" in path.read_text(encoding="utf-8")
)
MISTAKES = loader.load_mistakes(ROOT)


def question(id_: str) -> dict[str, Any]:
    (path,) = ROOT.glob(f"*/{id_}.yaml")
    return loader.load_file(path).model_dump(mode="json")


def value(text: str, unit: str = "byte") -> Fraction:
    return compute.read_quantity(text, unit).value


@pytest.mark.parametrize(
    "text",
    [
        "17,179,869,184",
        "17 179 869 184",
        "17\u202f179\u202f869\u202f184",
        "17_179_869_184",
        "17'179'869'184 B",
        "17179869184 bytes",
        "=17179869184",
        "~ 17179869184",
        "about 17,179,869,184 B.",
        "2^34",
        "2**34 B",
        "2³⁴",
        "$2^{34}$ bytes",
        "16 GiB",
        "16GiB",
        "16 gib",
        "16 gibibytes",
        "16384 MiB",
        "16,777,216 KiB",
        "137438953472 bits",
        "128 Gibit",
        "2 * 32 * 8 * 128 * 131072 * 2",
        "2·32·8·128·131,072·2 bytes = 17179869184 B",
        "2 x 32 x 8 x 128 x 131072 x 2 = 16 GiB",
        r"2 \times 8 \cdot 2^{30}",
        "32 GiB / 2",
        "(1/64) TiB",
        "16 GiB (17.18 GB)",
        "17179869184 B (16 GiB) ",
        "16 GiB per sequence",
    ],
)
def test_every_notation_of_one_size_reads_the_same(text: str) -> None:
    assert value(text.replace("32 GiB / 2", "32/2 GiB")) == 2**34


@pytest.mark.parametrize(
    ("text", "unit", "expected"),
    [
        ("1.718e10", "byte", "17180000000"),
        ("1.718 x 10^10", "byte", "17180000000"),
        ("1.718×10¹⁰", "byte", "17180000000"),
        ("17.18 GB", "byte", "17180000000"),
        ("1,500", "none", "1500"),
        ("½", "none", "1/2"),
        ("3/8", "none", "3/8"),
        ("37.5%", "none", "3/8"),
        ("37.5 percent", "none", "3/8"),
        (".375", "none", "3/8"),
        ("8x", "none", "8"),
        ("8 ×", "none", "8"),
        ("8 times smaller", "none", "8"),
        ("8:1", "none", "8"),
        ("41.9M parameters", "none", "41900000"),
        ("1.2B", "none", "1200000000"),
        ("1.2 billion", "none", "1200000000"),
        ("-3", "none", "-3"),
        ("−3", "none", "-3"),
        ("√16", "none", "4"),
        ("24.6k tokens", "token", "24600"),
        ("24,576 tokens", "token", "24576"),
        ("0.4 GFLOP", "FLOP", "400000000"),
        ("200 MFLOPs per token", "FLOP", "200000000"),
        ("200 MMACs", "FLOP", "400000000"),
        ("8 FLOPs per byte", "FLOP/byte", "8"),
        ("8 FLOP/B", "FLOP/byte", "8"),
        ("8 ops/byte", "FLOP/byte", "8"),
        ("4 MACs/byte", "FLOP/byte", "8"),
        ("8", "FLOP/byte", "8"),
    ],
)
def test_a_number_reads_in_the_base_unit(text: str, unit: str, expected: str) -> None:
    assert value(text.replace("MMACs", "M MACs"), unit) == Fraction(expected)


@pytest.mark.parametrize(
    ("text", "unit", "says"),
    [
        ("", "byte", "empty"),
        ("   ", "byte", "empty"),
        ("nan", "byte", "finite"),
        ("-inf", "byte", "finite"),
        ("∞", "byte", "finite"),
        ("1,5 GB", "byte", "two ways"),
        ("0,375", "none", "two ways"),
        ("1.234,5", "none", "two ways"),
        ("1.234.567", "none", "two ways"),
        ("12,34,567", "none", "two ways"),
        ("9**9**9", "none", "beyond"),
        ("10^9999999999", "none", "beyond"),
        ("1e99999", "none", "beyond"),
        ("9" * 400, "none", "beyond"),
        ("1/0", "none", "zero"),
        ("0^-1", "none", "zero"),
        ("(-1)^0.5", "none", "negative"),
        ("(" * 200, "none", "nests"),
        ("2 * (3 + 4", "none", "bracket"),
        ("9" * 501, "none", "characters"),
        ("four", "none", "No number"),
        ("4 bananas", "byte", "not a unit"),
        ("8 GB", "token", "measures bytes"),
        ("8 tokens", "byte", "measures tokens"),
        ("8 TFLOP/s", "FLOP", "rate"),
        ("8 FLOP/byte", "none", "measures FLOP per byte"),
        ("12 GB (3 GiB)", "byte", "different values"),
        ("3\x07", "byte", "control character"),
        ("\ud800", "byte", "control character"),
        ("__import__('os')", "byte", "No number"),
    ],
)
def test_what_cannot_be_read_says_what_to_write(text: str, unit: str, says: str) -> None:
    with pytest.raises(Unreadable, match=says) as caught:
        value(text, unit)
    assert str(caught.value).rstrip().endswith(".")
    assert len(str(caught.value)) < 250


@given(st.text(max_size=600), st.sampled_from(["byte", "FLOP", "token", "FLOP/byte", "none"]))
@settings(max_examples=300, deadline=500)
def test_any_text_reads_or_is_refused(text: str, unit: str) -> None:
    with suppress(Unreadable):
        compute.read_quantity(text, unit)


@given(st.text("0123456789.,eE+-*/^()x×√ kKMGB%=", max_size=60))
@settings(max_examples=500, deadline=500)
def test_any_arithmetic_reads_or_is_refused_in_time(text: str) -> None:
    with suppress(Unreadable):
        compute.read_quantity(text, "byte")


def _grouped(n: int, separator: str) -> str:
    return f"{n:,}".replace(",", separator)


@given(
    st.integers(0, 10**15),
    st.sampled_from(["", ",", " ", "_", "'", "\u202f", "\u00a0"]),
    st.sampled_from(["", "=", "~", "≈ ", "about ", "x = "]),
    st.sampled_from([("", 1), (" B", 1), ("kB", 1000), (" GiB", 2**30), (" TB", 10**12)]),
    st.sampled_from(["", " ", "."]),
)
def test_a_written_integer_reads_back(
    n: int, separator: str, lead: str, unit: tuple[str, int], tail: str
) -> None:
    assert value(f"{lead}{_grouped(n, separator)}{unit[0]}{tail}") == n * unit[1]


@given(
    st.integers(1, 10**9),
    st.integers(-20, 20),
    st.sampled_from(["{m}e{e}", "{m}E{e:+d}", "{m} x 10^{e}", "{m}×10^({e})", "{m}*10**{e}"]),
)
def test_a_written_power_of_ten_reads_back(mantissa: int, exponent: int, form: str) -> None:
    assert value(form.format(m=mantissa, e=exponent)) == mantissa * Fraction(10) ** exponent


@given(st.integers(1, 5000), st.integers(1, 5000))
def test_a_written_fraction_reads_back(top: int, bottom: int) -> None:
    assert value(f"{top}/{bottom}", "none") == Fraction(top, bottom)


@pytest.mark.parametrize("path", COMPUTE, ids=lambda p: p.stem)
def test_the_right_number_passes_and_is_shown_with_its_working(path: Path) -> None:
    asked = question(path.stem)
    for seed in range(5):
        values = parameters(asked, seed)
        answer = compute.right_answer(asked, values)
        report = grade_answer(asked, f"= {answer!r}", seed, MISTAKES)
        assert (report.verdict, report.score, report.seed) == ("passed", 1.0, seed)
        assert "{" not in report.parts[0].message
        assert " = " in report.parts[0].message
        assert [p["id"] for p in parts(asked, seed)] == [p.id for p in report.parts]
        json.dumps(values)


def test_the_same_seed_gives_the_same_parameters_in_another_process() -> None:
    asked = question("kv-cache-size")
    program = (
        "import json, sys; from grader.answers import parameters;"
        "print(json.dumps([parameters(json.load(sys.stdin), 7)]))"
    )
    out = subprocess.run(
        [sys.executable, "-c", program],
        input=json.dumps(asked),
        capture_output=True,
        text=True,
        check=True,
        cwd=ROOT.parent,
    ).stdout
    assert json.loads(out) == [parameters(asked, 7)]
    assert len({json.dumps(parameters(asked, seed)) for seed in range(20)}) > 10


def _cache() -> tuple[dict[str, Any], dict[str, Any], int]:
    asked = question("kv-cache-size")
    for seed in range(100):
        values = parameters(asked, seed)
        if values["batch"] == 3 and values["bytes_per_element"] == 2:
            return asked, values, seed
    raise AssertionError("no such seed")


@pytest.mark.parametrize(
    ("factor", "mistake"),
    [
        (0.5, "k-without-v"),
        (2, "extra-factor-two"),
        (1 / 3, "batch-forgotten"),
        (8, "bits-for-bytes"),
    ],
)
def test_a_slip_is_named_from_its_number(factor: float, mistake: str) -> None:
    asked, values, seed = _cache()
    answer = compute.right_answer(asked, values)
    for text in (f"{factor * answer} B", f"{factor * answer / 2**30:.4g} GiB"):
        report = grade_answer(asked, text, seed, MISTAKES)
        assert report.verdict == "wrong_answer"
        assert [m.id for m in report.mistakes] == [mistake]
        assert report.mistakes[0].title == MISTAKES[mistake]["title"]


def test_a_slip_is_named_under_the_sister_unit_too() -> None:
    asked, values, seed = _cache()
    half = compute.right_answer(asked, values) / 2 / 2**30
    report = grade_answer(asked, f"{half:.4g} GB", seed, MISTAKES)
    assert [m.id for m in report.mistakes] == ["k-without-v"]


def test_two_slips_with_one_number_are_told_and_neither_is_named() -> None:
    asked = {**question("kv-cache-size"), "mistakes": ["k-without-v", "elements-for-bytes"]}
    _, values, seed = _cache()
    half = compute.right_answer(asked, values) / 2
    report = grade_answer(asked, str(half), seed, MISTAKES)
    assert report.mistakes == ()
    assert "More than one slip" in report.summary
    for mistake in asked["mistakes"]:
        assert MISTAKES[mistake]["title"] in report.summary


def test_two_slips_at_once_are_named_together() -> None:
    asked, values, seed = _cache()
    sixth = compute.right_answer(asked, values) / 6
    report = grade_answer(asked, str(sixth), seed, MISTAKES)
    assert [m.id for m in report.mistakes] == ["k-without-v", "batch-forgotten"]


@pytest.mark.parametrize("factor", [1.03, 0.7, 11, 1 / 17, 1000.0])
def test_a_number_of_no_known_slip_is_given_no_name(factor: float) -> None:
    asked, values, seed = _cache()
    report = grade_answer(asked, str(factor * compute.right_answer(asked, values)), seed, MISTAKES)
    assert (report.verdict, report.mistakes) == ("wrong_answer", ())


def test_the_sister_unit_passes_with_a_note() -> None:
    asked, values, seed = _cache()
    answer = compute.right_answer(asked, values)
    for text, says in (
        (f"{answer / 2**30} GB", "fits GiB, not GB"),
        (f"{answer / 1e9} GiB", "fits GB, not GiB"),
        (f"{answer / 2**20} MB", "fits MiB, not MB"),
        (f"{answer / 1000} KiB", "fits kB, not KiB"),
    ):
        report = grade_answer(asked, text, seed, MISTAKES)
        assert report.verdict == "passed", text
        assert says in report.notes[0]
    assert grade_answer(asked, f"{answer / 1e9} GB", seed, MISTAKES).notes == ()


def test_a_lower_case_b_is_read_as_bytes_with_a_note() -> None:
    asked, values, seed = _cache()
    answer = compute.right_answer(asked, values)
    report = grade_answer(asked, f"{answer / 1e9} Gb", seed, MISTAKES)
    assert report.verdict == "passed"
    assert "capital B" in report.notes[0]


def test_one_percent_is_allowed_and_two_are_not() -> None:
    asked, values, seed = _cache()
    answer = compute.right_answer(asked, values)
    for off, verdict in ((0.991, "passed"), (1.0099, "passed"), (1.011, "wrong_answer")):
        assert grade_answer(asked, str(off * answer), seed, MISTAKES).verdict == verdict


def test_an_exact_question_allows_nothing() -> None:
    asked = {**question("flops-crossover"), "tolerance": 0.0}
    answer = compute.right_answer(asked, parameters(asked, 1))
    assert grade_answer(asked, str(answer), 1, MISTAKES).verdict == "passed"
    assert grade_answer(asked, str(answer + 1), 1, MISTAKES).verdict == "wrong_answer"


def test_grading_a_number_imports_nothing_heavy() -> None:
    program = (
        "import json, sys; from grader.answers import grade_answer;"
        "print(grade_answer(json.load(sys.stdin), '3 GB', 1, {}).verdict);"
        "heavy = {'torch', 'numpy', 'sympy', 'mpmath', 'pydantic', 'yaml', 'rapidfuzz', 'jinja2'};"
        "print(sorted(heavy & set(sys.modules)))"
    )
    out = subprocess.run(
        [sys.executable, "-c", program],
        input=json.dumps(question("kv-cache-size")),
        capture_output=True,
        text=True,
        check=True,
        cwd=ROOT.parent,
    ).stdout
    assert out.split("\n")[:2] == ["wrong_answer", "[]"]
