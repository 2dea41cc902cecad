"""Explanations: what a rule decides, and what is left to the learner."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest
import yaml

from grader.answers import apply_review, grade_answer, prose
from grader.report import Report
from questions import loader

ROOT = Path(loader.__file__).parent
DATA = Path(__file__).parent / "data"
ANSWERS = yaml.safe_load((DATA / "explained.yaml").read_text("utf-8"))
FALSE_POINTS = yaml.safe_load((DATA / "false_points.yaml").read_text("utf-8"))
RIGHT = yaml.safe_load((DATA / "right_statements.yaml").read_text("utf-8"))
EXPLAIN = sorted(path.stem for path in ROOT.glob("*/explain-*.yaml"))


def question(id_: str) -> dict[str, Any]:
    (path,) = ROOT.glob(f"*/{id_}.yaml")
    return loader.load_file(path).model_dump(mode="json")


def verdicts(report: Report) -> dict[str, str]:
    return {part.id: part.verdict for part in report.parts}


@pytest.mark.parametrize("answer", ANSWERS, ids=lambda a: f"{a['question']}: {a['why']}")
def test_a_written_answer_is_judged_as_a_reader_would(answer: dict[str, Any]) -> None:
    report = grade_answer(question(answer["question"]), answer["text"], 0, {})
    found = verdicts(report)
    assert {p for p in answer.get("made", []) if found[p] != "passed"} == set()
    assert {p for p in answer.get("missed", []) if found[p] != "wrong_answer"} == set()
    assert {p for p in answer.get("open", []) if found[p] != "needs_review"} == set()
    assert {p for p in answer.get("denied", []) if found[p] == "passed"} == set()
    assert sorted(m.id for m in report.mistakes) == sorted(answer.get("claims", []))
    assert sum(note.startswith("Form: ") for note in report.notes) == answer.get("form", 0)


def test_the_written_answers_cover_every_explain_question() -> None:
    counts = {id_: sum(a["question"] == id_ for a in ANSWERS) for id_ in EXPLAIN[:4]}
    assert all(count >= 6 for id_, count in counts.items()), counts


@pytest.mark.parametrize("id_", EXPLAIN)
def test_a_model_answer_makes_every_point_and_no_wrong_claim(id_: str) -> None:
    asked = question(id_)
    report = grade_answer(asked, asked["model_answer"], 0, {})
    assert report.verdict == "passed", report
    assert report.score == 1.0


@pytest.mark.parametrize("id_", EXPLAIN)
def test_a_correction_is_not_itself_taken_for_a_wrong_claim(id_: str) -> None:
    asked = question(id_)
    for claim in asked["wrong_claims"]:
        report = grade_answer(asked, claim["correction"], 0, {})
        assert claim["id"] not in [m.id for m in report.mistakes], claim["correction"]


@pytest.mark.parametrize("id_", EXPLAIN)
def test_patterns_take_little_time_on_hostile_text(id_: str) -> None:
    asked = question(id_)
    words = "variance of softmax only key query the gradient k v 2 * layers * not cache "
    start = time.perf_counter()
    for text in (words * 100, "variance " * 800, "a " * 3900, "2 * " * 1900, "key query " * 700):
        grade_answer(asked, text[:7990], 0, {})
    assert time.perf_counter() - start < 5


@pytest.mark.parametrize("id_", sorted(RIGHT))
def test_a_right_statement_is_never_called_contradicted(id_: str) -> None:
    asked = question(id_)
    found = {text: grade_answer(asked, text, 0, {}).mistakes for text in RIGHT[id_]}
    assert {text: [m.id for m in named] for text, named in found.items() if named} == {}


@pytest.mark.parametrize("id_", sorted({row["question"] for row in FALSE_POINTS}))
def test_a_false_statement_that_sounds_like_a_point_makes_none(id_: str) -> None:
    asked = question(id_)
    rows = [row for row in FALSE_POINTS if row["question"] == id_]
    made = [
        row["text"]
        for row in rows
        if verdicts(grade_answer(asked, row["text"], 0, {}))[row["point"]] == "passed"
    ]
    assert made == []


def test_review_settles_only_what_was_open() -> None:
    asked = question("explain-sqrt-dk")
    text = "The variance grows; the softmax saturates; gradients vanish. Something about heads."
    report = grade_answer(asked, text, 0, {})
    assert report.verdict == "needs_review"
    before = verdicts(report)
    assert before["k1"] == "needs_review"
    assert before["k2"] == "passed"
    settled = apply_review(report, {"k1": True, "k2": False, "k4": True, "k5": False}, asked)
    assert verdicts(settled) == {**before, "k1": "passed", "k4": "passed", "k5": "wrong_answer"}
    assert (settled.verdict, settled.score) == ("partial", 0.8)
    part_way = apply_review(report, {"k1": True}, asked)
    assert part_way.verdict == "needs_review"


def test_a_contradicted_claim_stays_after_review_and_caps_the_score() -> None:
    asked = question("explain-sqrt-dk")
    text = asked["model_answer"] + " This prevents exploding gradients."
    report = grade_answer(asked, text, 0, {})
    settled = apply_review(report, {p.id: True for p in report.parts}, asked)
    assert [m.id for m in settled.mistakes] == ["exploding-gradients"]
    assert (settled.verdict, settled.score) == ("partial", 0.5)


def test_a_broken_form_keeps_an_answer_from_passing() -> None:
    asked = question("explain-three-sentences")
    report = grade_answer(asked, asked["model_answer"] + " That is all.", 0, {})
    assert report.verdict == "partial"
    assert report.notes == ("Form: 3 sentences are asked for, and these are 4.",)


@pytest.mark.parametrize("text", ["", "  \n ", "...", "\x00", "x" * 9000])
def test_what_is_no_prose_is_invalid_with_one_sentence(text: str) -> None:
    report = grade_answer(question("explain-sqrt-dk"), text, 0, {})
    assert report.verdict == "invalid"
    assert report.summary.endswith((".", "it."))


@pytest.mark.parametrize(
    "written",
    [
        "√d_k",
        "sqrt(d_k)",
        r"\sqrt{d_k}",
        "√(dk)",
        "the square root of d_k",
        "root of dₖ",
        "d_k^0.5",
        "d_k**0.5",
        "sqrt(d_head)",
        r"$\sqrt{d_{k}}$",
        "np.sqrt(d_k)",
        "SQRT(D_K)",
    ],
)
def test_every_notation_of_the_root_becomes_one(written: str) -> None:
    assert "sqrt(d_k)" in prose.normalise(f"divide by {written} here")


def test_sentences_are_counted_as_people_count_them() -> None:
    assert len(prose.sentences("It is 0.7, e.g. here. Is it? Yes!")) == 3
    assert len(prose.sentences("See i.e. that, cf. this etc. and more.")) == 1
    assert len(prose.sentences("First line\nstill the same sentence.")) == 1
    assert len(prose.sentences("- one point\n- another point\n1. a third")) == 3
    assert prose.sentences("") == []


@pytest.mark.parametrize(
    ("statement", "found"),
    [
        ("the softmax saturates", "made"),
        ("the softmax never saturates", "doubtful"),
        ("it is a myth that the softmax saturates", "doubtful"),
        ("not only here, the softmax saturates", "made"),
        ("there is no scale, so the softmax saturates", "made"),
        ("softmax saturates is not what happens", "doubtful"),
        ("nothing of the kind", "absent"),
        ("does the softmax saturate? the softmax saturates?", "doubtful"),
        ("nobody believes that the softmax saturates", "doubtful"),
        ("i doubt that the softmax saturates", "doubtful"),
        ("the softmax saturates, which is nonsense", "doubtful"),
        ("it is as if the softmax saturates", "doubtful"),
    ],
)
def test_negation_reaches_its_own_clause(statement: str, found: str) -> None:
    assert prose.finding([r"softmax \w*\s?saturates"], [statement]) == found


def test_a_statement_may_be_taken_back_by_the_next() -> None:
    said = prose.statements("The softmax saturates. That is wrong. Keys stay. They are read.")
    assert prose.taken_back(said) == {0}


def test_key_words_in_a_row_are_no_sentence() -> None:
    said = prose.statements(
        "variance d_k std softmax saturate one-hot gradients vanish tiny unit variance head root."
        " Softmax saturates, so gradients vanish. The variance of the score is d_k."
        " Cache per token: 2 * L * h_kv * d_head * bytes per element."
    )
    assert prose.listed(said) == {0}


def test_a_sentence_with_a_wrong_claim_makes_no_point() -> None:
    report = grade_answer(
        question("explain-sqrt-dk"),
        "Dividing by sqrt(d_model) brings the variance back to 1.",
        0,
        {},
    )
    assert [m.id for m in report.mistakes] == ["scaled-by-model-width"]
    assert verdicts(report)["k4"] == "needs_review"


# A model answer in which one sentence was turned into its opposite.
TURNED = [
    ("explain-sqrt-dk", "brings the variance back to 1", "brings the variance back to d_k"),
    ("explain-sqrt-dk", "close to zero", "very large"),
    ("explain-sqrt-dk", "comes out almost one-hot", "comes out almost uniform"),
    ("explain-sqrt-dk", "Dividing by sqrt(d_k)", "Multiplying by sqrt(d_k)"),
    ("explain-sqrt-dk", "Dividing by sqrt(d_k)", "Dividing by sqrt(d_model)"),
    ("explain-sqrt-dk", "Dividing by sqrt(d_k)", "Dividing by d_k"),
    ("explain-sqrt-dk", "is that of one head", "is that of the model"),
    ("explain-causal-kv-cache", "depend only on tokens", "depend on all tokens"),
    ("explain-causal-kv-cache", "they do not change", "they all change"),
    ("explain-causal-kv-cache", "would have to be recomputed", "would stay as it is"),
    ("explain-causal-kv-cache", "values would change", "values would not change"),
    ("explain-causal-kv-cache", "only for the new token", "for all tokens"),
    ("explain-three-sentences", "weighted mix of what they hold", "copy of the nearest one"),
    ("explain-three-sentences", "key of every other", "value of every other"),
    ("explain-three-sentences", "depend on the data and sum to one", "are fixed after training"),
    ("explain-three-sentences", "is the values", "is the keys"),
    ("explain-mha-gqa-mqa", "its own K/V head", "the same K/V head"),
    ("explain-mha-gqa-mqa", "share a single K/V head", "have K/V heads of their own"),
    ("explain-mha-gqa-mqa", "loses some quality", "gains some quality"),
    ("explain-mha-gqa-mqa", "stays near MHA", "is far below MHA"),
    ("explain-mha-gqa-mqa", "h_kv * d_head", "h * d_head"),
    ("explain-mha-gqa-mqa", "reads fewer bytes", "reads more bytes"),
    ("explain-mha-gqa-mqa", "rises by", "falls by"),
    ("explain-mha-gqa-mqa", "for the same FLOPs", "and fewer FLOPs"),
]


@pytest.mark.parametrize(("id_", "right", "wrong"), TURNED)
def test_a_model_answer_with_one_point_turned_round_does_not_pass(
    id_: str, right: str, wrong: str
) -> None:
    asked = question(id_)
    model = " ".join(asked["model_answer"].split())
    turned = model.replace(right, wrong)
    assert turned != model
    assert grade_answer(asked, turned, 0, {}).verdict != "passed"
