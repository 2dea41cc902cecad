"""What questions say is checked beyond their form, without running anything."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from bank_texts import CODE, COMPUTE, K_WITHOUT_V, MISTAKES, choice

from questions.content import check

Put = Callable[[str, str], Path]

DEBUG = (
    CODE.replace("kind: code", "kind: debug").replace("id: scaled", "id: mend")
    + "bugs: [{mistake: scale-none, line: 4, fix: Scale it.}]\n"
)
TRACE = """\
id: by-hand
title: By hand
kind: trace
topic: basics
level: 1
minutes: 2
prompt: Work it out.
hints: [One., Two., Three.]
explanation: It is a sum.
sources: ["Vaswani et al. 2017"]
reference: reference.by_hand.attention_by_hand
parts:
  - {id: scores, asks: the scores, shape: [3, 3], step: A dot product.}
mistakes:
  - {id: m, part: scores, reference: reference.by_hand.scaled_by_width, says: Divided by d.}
"""
EXPLAIN = """\
id: say-it
title: Say it
kind: explain
topic: basics
level: 1
minutes: 2
prompt: Why?
hints: [One., Two., Three.]
explanation: Because.
sources: ["Vaswani et al. 2017"]
key_points:
  - {id: k1, text: Variance grows., says: ["varian\\\\w+ .*grow"]}
wrong_claims:
  - {id: w1, title: It shrinks, says: [shrink], unless: [never], correction: It grows.}
model_answer: It grows with the width.
"""
TEXTS = {
    "basics/scaled.yaml": CODE,
    "basics/cache-size.yaml": COMPUTE,
    "basics/which.yaml": choice("which"),
    "basics/mend.yaml": DEBUG,
    "basics/by-hand.yaml": TRACE,
    "basics/say-it.yaml": EXPLAIN,
    "mistakes/all.yaml": MISTAKES + K_WITHOUT_V,
}


@pytest.fixture
def bank(put: Put) -> Path:
    for name, text in TEXTS.items():
        path = put(name, text)
    return path.parent.parent


def found(root: Path) -> list[str]:
    return [f"{Path(f.path).name}:{f.line}:{f.column}: {f.message}" for f in check(root)]


def test_a_good_bank_has_no_findings(bank: Path) -> None:
    assert found(bank) == []


def test_checking_imports_neither_torch_nor_numpy(bank: Path) -> None:
    code = (
        "import sys; from questions.content import check; "
        f"print(check({str(bank)!r}), [m for m in ('torch', 'numpy', 'sympy') if m in sys.modules])"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "[] []"


CHANGES = [
    ("scaled", "value: H", "value: G", ["14:14: in case `one`, `G` is not among the sizes"]),
    ("scaled", '[B, "H * D"], about', '[B, "H ** D"], about',
     ["13:18: in case `one`, `H ** D` may hold only whole numbers, sizes, + - * // % and "
      "brackets"]),
    ("scaled", '[B, "H * D"], about', '[B, "__import__(\'os\')"], about',
     ["13:18: in case `one`, `__import__('os')` may hold only whole numbers, sizes, "
      "+ - * // % and brackets"]),
    ("scaled", '[B, "H * D"], about', '[B, "H - 2"], about',
     ["13:18: in case `one` this is -1: it must be at least 0"]),
    ("scaled", "reduction: D", "reduction: D - 2",
     ["21:12: in case `one` this is 0: it must be at least 1"]),
    ("scaled", "times: 30.0", "times: 3.0, plus: 1.0",
     ["29:40: an edit has exactly one of `set`, `times` and `plus`"]),
    ("scaled", "at: [0, [1, null]]", "at: [0, 1, 2]", ["29:45: `at` has 3 entries for 2 axes"]),
    ("scaled", "at: [0, [1, null]]", "at: [2]",
     ["29:46: in case `two` this is outside the axis of 2"]),
    ("scaled", "about: queries", "values: [1.0]",
     ["13:6: `fill: values` and `values` go together: give both, or neither"]),
    ("scaled", "[B, \"H * D\"], about: queries", "[2], fill: values, values: [1, G - 1]",
     ["13:45: in case `one`, `G` in `G - 1` is not among the sizes"]),
    ("scaled", "about: queries", "fill: values, values: [1, 2]",
     ["13:50: in case `three` the shape holds 24 numbers, but 2 are given"]),
    ("scaled", "id: two", "id: one", ["25:9: `one` stands there twice: each must be its own"]),
    ("scaled", "by_keyword: [n]", "by_keyword: [m]",
     ["30:71: `m` is no input: take one of q, n"]),
    ("scaled", "by_keyword: [n]", "omit: [n]",
     ["30:65: `n` is left out, but the starter gives it no default"]),
    ("scaled", "by_keyword: [n]", "by_keyword: [q]",
     ["30:70: `n` comes after `q`: add it to `by_keyword`, or leave it out too"]),
    ("scaled", "by_keyword: [n]", "outputs: {o: {shape: [1]}}",
     ["30:68: `o` is no output: take one of out"]),
    ("scaled", "      q: {shape", "      k: {shape", ["29:7: `k` is no input: take one of q, n"]),
    ("scaled", "gradients: [q]", "gradients: [n]",
     ["22:13: `n` holds no real numbers: it has no gradient"]),
    ("scaled", "[batch, feature]", "[batch]", ["18:8: `out` has 2 axes: name each of them"]),
    ("scaled", "def scaled(q, n)", "def scaled(n, q)",
     ["37:1: `scaled` must take exactly (q, n), as `inputs` has them, in this order"]),
    ("scaled", "def scaled(q, n)", "def scaled(q, n, *more)",
     ["37:1: `scaled` must take exactly (q, n), as `inputs` has them, in this order"]),
    ("scaled", "def scaled(q, n)", "def scale(q, n)",
     ["33:10: the starter defines no function `scaled`: add it at the top level"]),
    ("scaled", "      ...", "      return (", ["38:1: the starter is not valid Python: '(' was "
                                               "never closed"]),
    ("scaled", "reference: reference.softmax.softmax", "reference: reference.softmax.soft",
     ["19:12: `reference.softmax.soft` is not defined: see reference/ for what is"]),
    ("scaled", "reference.masks.causal_mask", "reference.nothing.causal_mask",
     ["20:40: `reference.nothing.causal_mask` is not defined: see reference/ for what is"]),
    ("mend", "line: 4", "line: 40", ["39:36: the shipped code has 5 lines, none numbered 40"]),
    ("mend", "line: 4", "line: 2",
     ["39:36: line 2 of the shipped code holds no code: point to the bug"]),
    ("cache-size", "{tokens} tokens in", "{token} tokens in",
     ["9:1: `{token}` is no parameter: take one of batch, bytes_per_element, head_dim, layers, "
      "model, n_kv_heads, tokens"]),
    ("cache-size", "Qwen3-4B", "DeepSeek-V3",
     ["15:25: `DeepSeek-V3` has no number for kv_heads (MLA): leave this model out",
      "15:25: `DeepSeek-V3` has no number for head_dim (128+64 qk/128 v): leave this model out"]),
    ("cache-size", "Qwen3-4B", "Qwen9", ["15:25: `Qwen9` is no model of reference/models.tsv"]),
    ("cache-size", "head_dim: head_dim", "head_dim: width",
     ["16:60: `width` is no column: take one of attention, d_ff, head_dim, heads, hidden, "
      "kv_heads, layers, model, params_computed, vocab"]),
    ("cache-size", "    batch: [1]\n", "",
     ["14:3: the formula needs `batch`, not among the parameters: add it"]),
    ("cache-size", "batch: [1]", "batch: []",
     ["19:12: `batch` has no values to draw from: give some"]),
    ("cache-size", "batch: [1]", "batch: [1, 1]",
     ["19:16: `1` stands there twice: each must be its own"]),
    ("which", "correct: true", "correct: false",
     ["14:3: 0 options are correct, of exactly one: mend it, or set `several: true`"]),
    ("which", "correct: false", "correct: true",
     ["14:3: 2 options are correct, of exactly one: mend it, or set `several: true`"]),
    ("which", "id: queries", "id: keys",
     ["15:10: `keys` stands there twice: each must be its own"]),
    ("which", "follows: []", "revisions: [{number: 3, reason: clearer}]",
     ["12:22: revisions count 2, 3, ... in order: this one is number 2"]),
    ("by-hand", "part: scores", "part: score",
     ["15:19: `score` is no part: take one of scores"]),
    ("by-hand", "scaled_by_width", "scaled_by_wid",
     ["15:38: `reference.by_hand.scaled_by_wid` is not defined: see reference/ for what is"]),
    ("by-hand", "[3, 3]", "[3, 0]",
     ["13:43: `scores` needs a shape of positive sizes such as [3, 2]"]),
    ("say-it", "[shrink]", '["(shrink"]',
     ["14:40: this pattern cannot be read: missing ), unterminated subpattern at position 0"]),
]  # fmt: skip


@pytest.mark.parametrize(("name", "before", "after", "findings"), CHANGES)
def test_a_fault_of_content_is_told_at_its_place(
    bank: Path, name: str, before: str, after: str, findings: list[str]
) -> None:
    path = bank / "basics" / f"{name}.yaml"
    text = path.read_text("utf-8")
    assert before in text
    path.write_text(text.replace(before, after), "utf-8")
    assert sorted(found(bank)) == sorted(f"{name}.yaml:{finding}" for finding in findings)


def test_a_planted_bug_is_a_listed_mistake_with_a_text(bank: Path) -> None:
    path = bank / "basics/mend.yaml"
    path.write_text(path.read_text().replace("[{mistake: scale-none", "[{mistake: scale-twice"))
    assert found(bank) == [
        "mend.yaml:39:18: `scale-twice` is not among `mistakes`: add it there",
        "mend.yaml:39:18: the mistake `scale-twice` has no text: add it below mistakes/",
    ]


def test_a_compute_mistake_is_a_function(bank: Path) -> None:
    path = bank / "basics/cache-size.yaml"
    path.write_text(path.read_text().replace("k-without-v", "scale-none"))
    assert found(bank) == [
        "cache-size.yaml:25:12: `scale-none` needs reference.mistakes.counting.scale_none, "
        "which is not there"
    ]


def test_stray_files_in_topic_folders_are_told(bank: Path) -> None:
    (bank / "basics/notes.txt").write_text("x")
    (bank / "axes").mkdir()
    (bank / "axes/other.yml").write_text(choice("other"))
    (bank / "basics/.hidden").write_text("x")
    (bank / "code").mkdir()
    (bank / "code/module.py").write_text("x")
    assert found(bank) == [
        "other.yml:1:1: this is no question, yet in a topic folder: rename it to .yaml",
        "notes.txt:1:1: this is no question, yet in a topic folder: move it elsewhere",
    ]


def test_one_file_is_checked_against_its_bank(bank: Path) -> None:
    path = bank / "basics/which.yaml"
    assert found(path) == []
    path.write_text(choice("which", follows="nix"))
    (bank / "basics/say-it.yaml").write_text("id: [")
    assert found(path) == [
        "which.yaml:12:11: `follows` names `nix`, which no question has as its id"
    ]


def test_findings_of_form_and_content_come_together(bank: Path) -> None:
    (bank / "basics/which.yaml").write_text(choice("which", level=9))
    path = bank / "basics/say-it.yaml"
    path.write_text(path.read_text().replace("[shrink]", "['*']"))
    assert [line.split(":")[0] for line in found(bank)] == ["say-it.yaml", "which.yaml"]
