from __future__ import annotations

import pytest
from conftest import BANK, Drill, right_answer

from drills import serving
from drills.screen import pages
from drills.solutions import solution, triton_solution
from drills.store import Store
from questions.loader import load_bank

JACOBIAN = "derive-softmax-jacobian"


def show(drill: Drill, question: str = "kv-cache-size", seed: int = 5) -> dict:
    return drill("show", question, "--seed", str(seed), "--json").json


def test_the_right_number_passes_and_is_remembered(drill: Drill):
    shown = show(drill)
    ran = drill("answer", shown["id"], right_answer(shown), "--json")
    assert (ran.code, ran.json["verdict"], ran.json["seed"]) == (0, "passed", 5)
    assert "parts" in ran.json
    assert "checks" not in ran.json
    attempt = Store(drill.home, print).attempts(shown["id"])[0]
    assert (attempt.verdict, attempt.seed) == ("passed", 5)
    assert attempt.seconds is not None


def test_a_wrong_number_fails_and_ends_with_what_to_do(drill: Drill):
    shown = show(drill)
    wrong = str(float(right_answer(shown)) / 2)
    ran = drill("answer", shown["id"], wrong)
    assert ran.code == 1
    assert "wrong answer" in ran.out
    assert "drill hint kv-cache-size" in ran.out.rstrip().splitlines()[-1]


@pytest.mark.parametrize(
    "arguments",
    [
        ("--seed", "5", JACOBIAN, "-p_i p_j"),
        (JACOBIAN, "-p_i p_j", "--seed", "5"),
        (JACOBIAN, "--seed", "5", "--", "-p_i p_j"),
        (JACOBIAN, "--seed=5", "-3"),
        (JACOBIAN, "-se"),
        (JACOBIAN, "-h"),
    ],
)
def test_text_may_begin_with_a_minus_sign(drill: Drill, arguments: tuple[str, ...]):
    ran = drill("answer", *arguments, "--json") if "--" not in arguments else None
    if ran is None:
        ran = drill("answer", "--json", *arguments)
    assert ran.code == 1, ran.err
    assert ran.json["question"] == JACOBIAN
    stored = Store(drill.home, print).facts()["attempts"][0]["source"]
    expected = next(a for a in reversed(arguments) if a.startswith("-") and "seed" not in a)
    assert stored == expected


@pytest.mark.parametrize("way", ["argument", "arguments", "pipe", "dash"])
def test_several_parts_come_as_lines_or_as_arguments(drill: Drill, way: str):
    lines = ["p_i (1 - p_i)", "-p_i p_j", "0"]
    text = "\n".join(lines)
    ran = {
        "argument": lambda: drill("answer", JACOBIAN, text, "--json"),
        "arguments": lambda: drill("answer", JACOBIAN, *lines, "--json"),
        "pipe": lambda: drill("answer", JACOBIAN, "--json", stdin=text),
        "dash": lambda: drill("answer", JACOBIAN, "-", "--json", stdin=text),
    }[way]()
    assert (ran.code, ran.json["verdict"]) == (0, "passed")


def test_words_need_no_quotes(drill: Drill):
    shown = show(drill)
    ran = drill("answer", shown["id"], right_answer(shown), "B", "--json")
    assert ran.json["verdict"] == "passed"


def test_a_question_with_numbers_must_have_been_shown(drill: Drill):
    ran = drill("answer", "kv-cache-size", "3 GB")
    assert ran.code == 2
    assert "drill show kv-cache-size" in ran.err
    assert Store(drill.home, print).attempts() == []


def test_after_a_wrong_answer_the_numbers_are_new(drill: Drill):
    shown = drill("next", "--kind", "compute", "--json").json
    assert drill("answer", shown["id"], "1").code == 1
    seeds = {drill("show", shown["id"], "--json").json["seed"] for _ in range(2)}
    assert shown["seed"] not in seeds
    assert len(seeds) == 1


def test_a_wrong_choice_ends_the_sitting_since_its_report_tells_all(drill: Drill):
    question = next(q for q in load_bank(BANK).values() if q.kind == "choice" and not q.several)
    letters = dict(zip("abcdefghi", question.options, strict=False))
    right = next(letter for letter, option in letters.items() if option.correct)
    wrong = next(letter for letter, option in letters.items() if not option.correct)
    ran = drill("answer", question.id, wrong)
    assert ran.code == 1
    assert "drill next" in ran.out.rstrip().splitlines()[-1]
    rows = drill("list", "--kind", "choice", "--json").json["questions"]
    assert {row["status"] for row in rows if row["id"] == question.id} == {"missed"}
    again = drill("answer", question.id, wrong)  # practice: there is still nothing to find out
    assert "drill next" in again.out.rstrip().splitlines()[-1]
    assert drill("answer", question.id, right).code == 0
    store = Store(drill.home, print)
    verdicts = [a.verdict == "passed" for a in store.attempts(question.id)]
    assert verdicts == [False, False, True]
    assert [r.rating for r in store.reviews(question.id)] == [1]


def test_prose_is_left_to_review_off_a_terminal(drill: Drill):
    kinds = drill("list", "--kind", "explain", "--json").json["questions"]
    if not kinds:
        pytest.skip("the bank has no explain question")
    question = kinds[0]["id"]
    shown = drill("show", question, "--json").json
    assert len({part["asks"] for part in shown["parts"]}) == 1  # the rubric is not told
    ran = drill("answer", question, "Something about attention.", "--json")
    assert ran.code == 1
    assert ran.json["verdict"] in ("needs_review", "wrong_answer", "partial")


def test_one_review_a_sitting_however_often_it_is_passed(drill: Drill):
    shown = show(drill)
    for _ in range(3):
        assert drill("answer", shown["id"], right_answer(shown)).code == 0
    store = Store(drill.home, print)
    assert len(store.attempts()) == 3
    assert len(store.reviews()) == 1


def test_hints_come_one_by_one_and_lower_the_rating(drill: Drill):
    shown = show(drill)
    hints = [drill("hint", shown["id"], "--json").json for _ in range(shown["hints"] + 1)]
    assert [hint["number"] for hint in hints] == [
        *range(1, shown["hints"] + 1),
        shown["hints"],
    ]
    assert len({hint["hint"] for hint in hints}) == shown["hints"]
    assert drill("answer", shown["id"], right_answer(shown)).code == 0
    assert [r.rating for r in Store(drill.home, print).reviews()] == [2]


def test_seeing_the_solution_counts_as_giving_up(drill: Drill):
    from grader.answers.units import show_value

    shown = show(drill)
    ran = drill("solution", shown["id"])
    assert ran.code == 0
    assert shown["id"] in ran.out
    assert f"= {show_value(float(right_answer(shown)), 'byte')}" in " ".join(ran.out.split())
    assert drill("answer", shown["id"], right_answer(shown)).code == 0
    assert [r.rating for r in Store(drill.home, print).reviews()] == [1]


def test_skipping_after_failures_counts_as_giving_up_and_before_them_not(drill: Drill):
    shown = drill("next", "--kind", "compute", "--json").json
    assert drill("skip").code == 0
    assert Store(drill.home, print).reviews() == []
    shown = drill("next", "--kind", "compute", "--json").json
    assert drill("answer", shown["id"], "1").code == 1
    assert drill("skip").code == 0
    assert [r.rating for r in Store(drill.home, print).reviews()] == [1]


def test_every_solution_can_be_shown(capsys: pytest.CaptureFixture[str]):
    for question in load_bank(BANK).values():
        served = serving.serve({**question.model_dump(mode="json"), "revision": 1}, 5)
        pages.print_solution(served, *solution(served))
        shown = capsys.readouterr().out
        assert question.id in shown
        assert "drill next" in shown.rstrip().splitlines()[-1]
        assert "{" not in shown.replace("\\frac{", "") or question.kind in ("code", "debug")


@pytest.mark.parametrize(
    "kernel", ["fused-softmax", "fused-attention", "fused-decode", "paged-decode-kernel"]
)
def test_a_kernel_is_solved_in_plain_torch_and_in_triton(kernel: str):
    question = load_bank(BANK)[kernel].model_dump(mode="json")
    served = serving.serve({**question, "revision": 1}, 5)
    words, code = solution(served)
    assert f"\ndrill solution {kernel} --device interpret\n" in words
    assert "triton" not in code
    words, code = triton_solution(served)
    assert "Source: " in words
    assert "@triton.jit" in code
    assert f"def {question['entry']}(" in code


def test_only_a_kernel_has_a_solution_in_triton(drill: Drill):
    ran = drill("solution", "causal-mask", "--device", "interpret")
    assert (ran.code, ran.out) == (2, "")
    assert "no solution in Triton: drill solution causal-mask" in ran.err
    ran = drill("solution", "fused-softmax", "--device", "interpret")
    assert ran.code == 0
    assert "reference/kernels/triton_softmax.py" in ran.out


def test_an_argument_that_is_not_utf8_is_refused_in_one_sentence(drill: Drill):
    ran = drill("answer", JACOBIAN, "\udcff")  # arrives as the single byte 0xff
    assert ran.code == 2
    assert ran.err.strip() == "The answer is not text in UTF-8."
