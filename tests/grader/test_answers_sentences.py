"""A right number stays right in a sentence, a chain or a sum of units; a wrong one never passes."""

from __future__ import annotations

import time
from contextlib import suppress
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from grader.answers import compute, grade_answer, phrases
from grader.answers.reading import Unreadable
from questions import loader

ROOT = Path(loader.__file__).parent
MISTAKES = loader.load_mistakes(ROOT)


def question(id_: str) -> dict[str, Any]:
    (path,) = ROOT.glob(f"*/{id_}.yaml")
    return loader.load_file(path).model_dump(mode="json")


def sized(id_: str, **sizes: Any) -> dict[str, Any]:
    """The question with one value for each parameter."""
    draw = {name: [value] for name, value in sizes.items()}
    return {**question(id_), "parameters": {"model": None, "draw": draw}}


# 2^34 bytes: 16 GiB, 17.18 GB.
CACHE = sized(
    "kv-cache-size",
    model="a model",
    layers=32,
    n_heads=32,
    n_kv_heads=8,
    head_dim=128,
    tokens=131_072,
    batch=1,
    bytes_per_element=2,
)


@pytest.mark.parametrize(
    "text",
    [
        "about 17.18 GB",
        "= 17.18GB",
        "17.18 gigabytes",
        "17.2 GB approx.",
        "17.2 GB or so",
        "16 GiB exactly",
        "16 GiB in total",
        "a total of 16 GiB",
        "The answer is 16 GiB.",
        "The KV cache of Llama-3.1-8B is 16 GiB",
        "KV cache: 16 GiB",
        "I think 16 GiB",
        "should be around 17.2 GB",
        "17.2 GB, or 16 GiB",
        "17.2 GB / 16 GiB",
        "16 GiB; 17.2 GB",
        "16 GiB i.e. 17.2 GB",
        "16 GiB which is 17.2 GB",
        "16 GiB [17.2 GB]",
        "16 GiB (≈ 17.2 GB)",
        "16 GiB (= 17.2 GB)",
        "16 GiB (all layers)",
        "17.18 GB of KV cache",
        "17.18 GB in bf16",
        "17.18 GB for one sequence",
        "17.18 GB for the whole batch",
        "16 GiB for all 32 layers",
        "16 GiB per user",
        "17.18 GB (1 GB = 10^9 bytes)",
        "17.18 GB where GB=10^9",
        "(16 GiB)",
        "**16 GiB**",
        "`16 GiB`",
        '"16 GiB"',
        r"\boxed{16 \text{ GiB}}",
        r"\(16\) GiB",
        "17.18~GB",
        "-> 16 GiB",
        "=> 16 GiB",
        "⇒ 16 GiB",
        "1.718 e10",
        "16 Gi",
        "17.18 Go",
        "16 gigs",
        "128 KiB * 131072",
        "128 KiB per token × 131072 tokens",
        "131072 tokens * 128 KiB",
        "2 (K and V) * 32 layers * 8 heads * 128 * 2 bytes * 131072 tokens",
        "32 GiB / 2",
        "2(32·8·128)·131072·2",
        "137.4 Gb",
        "128 Gib",
    ],
)
def test_a_right_size_passes_however_it_is_said(text: str) -> None:
    report = grade_answer(CACHE, text, 1, MISTAKES)
    assert report.verdict == "passed", report.summary


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("not 16 GiB", "No number"),
        ("less than 16 GiB", "No number"),
        ("half of 16 GiB", "No number"),
        ("twice 16 GiB", "No number"),
        ("16 GiB less", "not a unit"),
        ("16 GiB short of it", "not a unit"),
        ("< 16 GiB", "bound"),
        ("!= 16 GiB", "bound"),
        ("16-17 GiB", "range"),
        ("16 to 17 GiB", "range"),
        ("16 GiB or 20 GiB", "two different values"),
        ("16 GiB (12 GB)", "two different values"),
        ("16 GiB * 1 GB", "two units"),
        ("16 GiB, see below", "not read here"),
        ("0x400000000", "base 16"),
        ("16 GiB per layer", "all 32 layers together"),
        ("16 GiB/token", "all 131,072 tokens together"),
    ],
)
def test_what_may_mean_something_else_is_asked_about(text: str, says: str) -> None:
    report = grade_answer(CACHE, text, 1, MISTAKES)
    assert report.verdict == "invalid"
    assert says in report.summary
    assert report.mistakes == ()


@pytest.mark.parametrize(
    "text",
    [
        "137,696 tokens",
        "from 137,696 tokens on",
        "> 137,695",
        "more than 137,695 tokens",
        "at 137.7k tokens",
        "28.2e9/(2*40*10*128*2) + 1",
        "28.2e9/204800 → 137,696",
        "ceil(137695.3)",
        "token 137,696",
    ],
)
def test_a_first_count_of_tokens_may_be_said_as_a_bound(text: str) -> None:
    asked = sized(
        "kv-exceeds-weights",
        weight_gigabytes=28.2,
        layers=40,
        n_heads=40,
        n_kv_heads=10,
        head_dim=128,
        bytes_per_element=2,
    )
    assert grade_answer(asked, text, 1, MISTAKES).verdict == "passed"


@pytest.mark.parametrize(
    "text",
    [
        "4 FLOP per byte read",
        "4 FLOPs per byte of cache",
        "4 floating point operations per byte",
        "4 FLOPs for each byte",
        "4 [FLOP/byte]",
        "intensity: 4 FLOP/byte",
        "4 F/B",
        "h/h_kv = 32/8 = 4",
    ],
)
def test_an_intensity_may_name_what_is_read(text: str) -> None:
    asked = sized(
        "decode-intensity", model="a model", n_heads=32, n_kv_heads=8, bytes_per_element=2
    )
    assert grade_answer(asked, text, 1, MISTAKES).verdict == "passed"


@pytest.mark.parametrize("factor", [0.5, 2, 1.02, 0.98, 1.024, 1.0737, 3, 0.1, 1000, 1024])
@pytest.mark.parametrize("form", ["{:.10g}", "= {:.6e} bytes", "about {:.10g} in total"])
def test_a_wrong_size_passes_in_no_form(factor: float, form: str) -> None:
    report = grade_answer(CACHE, form.format(factor * 2**34), 1, MISTAKES)
    assert report.verdict == "wrong_answer"


@pytest.mark.parametrize(
    "text", ["1e308*1e308", "1e-308", "1e-308*1e-308", "0.5^1000", "1e308", "1" * 300, "0"]
)
@pytest.mark.parametrize("id_", ["kv-cache-size", "decode-intensity"])
def test_a_number_far_beyond_reason_is_wrong_in_one_short_sentence(id_: str, text: str) -> None:
    report = grade_answer(question(id_), text, 3, MISTAKES)
    assert report.verdict == "wrong_answer"
    assert len(report.summary) < 80
    assert report.summary.endswith(".")


def test_a_slip_that_nothing_singles_out_is_told_but_not_named() -> None:
    asked = sized(
        "decode-intensity", model="a model", n_heads=32, n_kv_heads=8, bytes_per_element=1
    )
    report = grade_answer(asked, "4", 1, MISTAKES)
    assert report.verdict == "wrong_answer"
    assert report.mistakes == ()
    for mistake in ("multiply-add-as-one", "two-byte-rule"):
        assert MISTAKES[mistake]["title"] in report.summary


def test_filling_words_are_those_that_change_nothing() -> None:
    assert phrases.from_number("the total is about 5") == "5"
    assert phrases.from_number("not 5") == "not 5"
    assert phrases.shorter("GiB per layer") == ("GiB", "layer")
    assert phrases.shorter("GiB in total") == ("GiB in", "")
    assert phrases.shorter("GiB wrong") is None


@pytest.mark.parametrize("text", ["5" + "x5" * 150, "(5 GB " * 80, "5 (5 " * 90, "5 GB per " * 50])
def test_sentences_made_to_be_slow_are_read_or_refused_at_once(text: str) -> None:
    start = time.perf_counter()
    with suppress(Unreadable):
        compute.read_quantity(text, "byte")
    assert time.perf_counter() - start < 0.5


def test_a_product_of_units_is_exact() -> None:
    assert compute.read_quantity("3 KiB * 7 / 2", "byte").value == Fraction(3 * 1024 * 7, 2)
