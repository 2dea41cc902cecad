"""The bank's proof of power finds what is weak, and passes what is strong."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
import torch
from bank import HONEST, question
from in_process import InProcess

from grader.judging.functions import invoke
from grader.judging.oracle import Oracle
from grader.judging.trial import WorkerFactory
from grader.power import prove
from grader.trivial import trivial


def workers(asked: dict[str, Any]) -> Callable[[bytes], WorkerFactory]:
    return lambda source: lambda: InProcess(source.decode(), asked["entry"], asked["framework"])


def honest(id_: str) -> dict[str, bytes]:
    return {path.stem: path.read_bytes() for path in HONEST.glob(f"{id_}/*.py")}


@pytest.mark.parametrize("id_", ["stable-softmax", "causal-mask", "rope", "debug-attention"])
def test_a_question_of_the_bank_is_proved(id_: str) -> None:
    asked = question(id_)
    proof = prove(asked, honest(id_), [1], workers(asked))
    assert proof["findings"] == []
    assert proof["ok"]
    assert min(row["margin"] for row in proof["table"]) >= 10
    answers = {row["answer"] for row in proof["table"]}
    assert answers >= {*asked["mistakes"], "(zeros)", "(constant)", "(noise)"}
    json.dumps(proof, allow_nan=False)


def test_a_grid_without_the_telling_case_is_found_weak() -> None:
    asked = question("causal-mask")
    square = [case for case in asked["cases"] if case["sizes"]["T"] == case["sizes"]["S"]]
    proof = prove({**asked, "cases": square}, {}, [1], workers(asked))
    assert not proof["ok"]
    assert any("`causal-mask-top-left` stays within" in finding for finding in proof["findings"])


def test_a_wrong_answer_among_the_honest_ones_is_found() -> None:
    asked = question("causal-mask")
    wrong = b"import torch\ndef causal_mask(t, s):\n    return torch.ones(t, s, dtype=torch.bool)\n"
    proof = prove(asked, {"all": wrong}, [1], workers(asked))
    assert any("`all` does not pass" in finding for finding in proof["findings"])


def test_a_starter_that_is_already_right_is_found() -> None:
    asked = question("causal-mask")
    right = next(iter(honest("causal-mask").values())).decode()
    proof = prove({**asked, "starter": right}, {}, [1], workers(asked))
    assert any("the starter passes" in finding for finding in proof["findings"])


def test_shipped_code_without_its_planted_bug_is_found() -> None:
    asked = question("debug-attention")
    mended = honest("debug-attention")["mended_in_place"].decode()
    proof = prove({**asked, "starter": mended}, {}, [1], workers(asked))
    assert any("shipped code is named as nothing" in finding for finding in proof["findings"])


@pytest.mark.parametrize(
    "id_", ["attention", "causal-mha", "causal-mha-numpy", "gqa", "kv-cache-decode", "padding-mask"]
)
def test_the_mean_of_the_values_is_among_the_answers_that_must_fail(id_: str) -> None:
    asked = question(id_)
    oracle = Oracle(asked)
    case = oracle.draw(asked["cases"][0], "float32", 1)
    blind = trivial(asked, 1)["mean of the values"]
    mean = invoke(blind, case, torch.float64, asked["framework"])
    right = list(oracle.truth(case).expected.values())
    assert [m.shape for m in mean] == [r.shape for r in right]
    assert not torch.allclose(mean[0], right[0], atol=1e-3)
