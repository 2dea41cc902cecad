"""Inputs come from the seed alone, and the awkward cases are what they claim to be."""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import Any

import pytest
import torch
from bank import CODE, question
from torch import Tensor

from grader.judging.cases import build, find
from grader.judging.oracle import SETTLED, Oracle
from grader.judging.reproduce import _number, reproduce


def tensor(**changes: Any) -> dict[str, Any]:
    """A tensor input as the schema dumps it."""
    return {
        "shape": ["T", "D"], "fill": "normal", "mean": 0.0, "std": 1.0, "low": 0.0, "high": 1.0,
        "keep": 0.6, "start": 0, "step": 1, "shuffle": False, "values": None, "edits": [],
        "about": None, **changes,
    }  # fmt: skip


def small(inputs: dict[str, Any], **case: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    declared = {
        "id": "one", "title": "one", "sizes": {"T": 6, "D": 4}, "inputs": {}, "outputs": {},
        "dtypes": ["float32"], "gradients": True, "clear_leader": False, "by_keyword": [],
        "omit": [], **case,
    }  # fmt: skip
    asked = {
        "id": "q", "inputs": inputs, "outputs": {"out": {"shape": ["T"], "dtype": "input"}},
        "gradients": list(inputs), "cases": [declared],
    }  # fmt: skip
    return asked, declared


def same(one: Any, other: Any) -> bool:
    if isinstance(one, Tensor):
        return one.dtype == other.dtype and torch.equal(one, other)
    return bool(one == other)


@pytest.mark.parametrize("id_", CODE)
def test_the_same_seed_gives_the_same_inputs_and_another_seed_others(id_: str) -> None:
    asked = question(id_)
    for declared in asked["cases"]:
        one, two, three = (build(asked, declared, "float32", seed) for seed in (5, 5, 6))
        assert all(same(one.values[name], two.values[name]) for name in one.values)
        tensors = [v for v in one.values.values() if isinstance(v, Tensor)]
        drawn = [v for v in tensors if v.is_floating_point() and v.isfinite().any()]
        moved = not all(same(one.values[name], three.values[name]) for name in one.values)
        assert moved or not drawn


def test_bfloat16_inputs_are_the_float32_ones_rounded() -> None:
    asked, declared = small({"x": tensor()})
    narrow = build(asked, declared, "bfloat16", 1).values["x"]
    wide = build(asked, declared, "float64", 1).values["x"]
    assert isinstance(narrow, Tensor)
    assert isinstance(wide, Tensor)
    assert torch.equal(narrow, wide.to(torch.bfloat16))


def test_fills_hold_what_they_say() -> None:
    asked, declared = small(
        {
            "u": tensor(fill="uniform", low=2.0, high=3.0),
            "a": tensor(shape=["T"], fill="arange", start=4, step=2),
            "p": tensor(shape=["T"], fill="arange", shuffle=True),
            "i": tensor(fill="integers", low=-1.0, high=1.0, shape=[50]),
            "m": tensor(fill="mask", keep=0.01, shape=[40, 3]),
            "v": tensor(fill="values", values=[3, 0, "T - 5"], shape=[3]),
            "f": tensor(fill="values", values=[0.5, 1], shape=[2]),
            "w": tensor(fill="linear", shape=[400, 100]),
        }
    )
    values = build(asked, declared, "float32", 0).values
    u, a, p, i, m, v, f, w = values.values()
    assert all(isinstance(value, Tensor) for value in values.values())
    assert 2 <= u.min() <= u.max() <= 3  # type: ignore[union-attr]
    assert a.tolist() == [4, 6, 8, 10, 12, 14]  # type: ignore[union-attr]
    assert sorted(p.tolist()) == list(range(6))  # type: ignore[union-attr]
    assert set(i.tolist()) == {-1, 0, 1}  # type: ignore[union-attr]
    assert m.any(-1).all()  # type: ignore[union-attr]
    assert not m.all()  # type: ignore[union-attr]
    assert v.tolist() == [3, 0, 1]  # type: ignore[union-attr]
    assert (v.dtype, f.dtype) == (torch.int64, torch.float32)  # type: ignore[union-attr]
    assert abs(w.std() - 0.1) < 0.01  # type: ignore[union-attr]


def test_edits_touch_their_slice_alone() -> None:
    edits = [
        {"at": [0], "set": float("-inf"), "times": None, "plus": None},
        {"at": [["T - 2", None], 1], "set": None, "times": 100.0, "plus": None},
        {"at": [None, 3], "set": None, "times": None, "plus": 5.0},
    ]
    asked, declared = small({"x": tensor(edits=edits)})
    plain, _ = small({"x": tensor()})
    new = build(asked, declared, "float64", 2).values["x"]
    old = build(plain, declared, "float64", 2).values["x"]
    assert isinstance(new, Tensor)
    assert isinstance(old, Tensor)
    assert new[0].isinf().all()
    assert torch.equal(new[4:, 1], 100 * old[4:, 1])
    assert torch.equal(new[1:, 3], old[1:, 3] + 5)
    assert torch.equal(new[1:, [0, 2]], old[1:, [0, 2]])


def test_what_follows_an_omitted_argument_goes_by_keyword() -> None:
    inputs = {"x": tensor(), "mask": {"value": None, "about": None}, "base": {"value": "T * 2"}}
    asked, declared = small(inputs, omit=["mask"])
    case = build(asked, declared, "float32", 0)
    assert len(case.args) == 1
    assert case.kwargs == {"base": 12}
    assert case.names == ["x", "base"]


def test_an_unknown_case_is_answered_with_those_there_are() -> None:
    asked, _ = small({"x": tensor()})
    with pytest.raises(ValueError, match="its cases are: one"):
        find(asked, "two")


@pytest.mark.parametrize("id_", [i for i in CODE if i != "causal-mask"])
def test_large_scores_have_a_clear_leader_so_that_rounding_decides_nothing(id_: str) -> None:
    asked = question(id_)
    oracle = Oracle(asked)
    for declared in asked["cases"]:
        if declared["clear_leader"]:
            for seed in range(3):
                for dtype in declared["dtypes"]:
                    assert oracle._unrest(oracle.draw(declared, dtype, seed)) <= SETTLED


def test_a_draw_that_rounding_would_decide_is_drawn_again() -> None:
    asked = question("stable-softmax")
    declared = find(asked, "huge")
    close = {**asked["inputs"]["x"], "mean": 5.0e4, "std": 60.0}  # gaps of a few, far from zero
    declared = {**declared, "inputs": {"x": close}}
    oracle = Oracle(asked)
    first = [oracle._unrest(build(asked, declared, "float32", seed)) for seed in range(30)]
    assert max(first) > SETTLED
    worst = first.index(max(first))
    assert oracle._unrest(oracle.draw(declared, "float32", worst)) <= SETTLED


def test_literals_keep_the_sign_of_zero_and_every_bit() -> None:
    assert str(eval(_number(-0.0, torch.float32))) == "-0.0"
    for dtype in (torch.float32, torch.float64, torch.bfloat16):
        drawn = torch.randn(50, dtype=torch.float64).to(dtype)
        texts = [_number(value, dtype) for value in drawn.tolist()]
        assert torch.equal(torch.tensor([float(text) for text in texts], dtype=dtype), drawn)


@pytest.mark.parametrize(
    ("id_", "case", "dtype"),
    [
        ("causal-mha", "two-heads-odd", "float32"),
        ("causal-mha", "two-heads-odd", "bfloat16"),
        ("stable-softmax", "hidden-entries", "float64"),
        ("causal-mha-numpy", "two-heads-odd", "float32"),
        ("attention", "empty-rows", "bfloat16"),
    ],
)
def test_a_reproduced_case_runs_and_holds_the_very_inputs(
    id_: str, case: str, dtype: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    asked = question(id_)
    program = tmp_path / "case.py"
    program.write_text(reproduce(asked, 11, case, dtype=dtype))
    answer = tmp_path / "answer.py"
    entry = asked["entry"]
    answer.write_text(f"def {entry}(*a, **k):\n    return a[0] * 0\n")
    monkeypatch.setattr("sys.argv", ["case.py", str(answer)])
    names = runpy.run_path(str(program))
    oracle = Oracle(asked)
    drawn = oracle.draw(find(asked, case), dtype, 11)
    for name, value in drawn.values.items():
        given = torch.as_tensor(names[name]) if isinstance(value, Tensor) else names[name]
        assert same(value, given)
    truth = oracle.truth(drawn)
    for (name, right), shown in zip(truth.expected.items(), names["expected"], strict=True):
        spec = drawn.outputs[name]
        assert torch.equal(shown, right.to(getattr(torch, spec.dtypes[0])))
    assert "largest error" in capsys.readouterr().out or truth.expected
