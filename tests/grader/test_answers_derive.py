"""Expressions: every notation read alike, compared as mathematics, never evaluated as code."""

from __future__ import annotations

import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from grader.answers import algebra, grade_answer, parts
from grader.answers.expressions import parse
from grader.answers.reading import Unreadable
from grader.answers.tree import Node, written
from questions import loader

ROOT = Path(loader.__file__).parent
NAMES = ("B", "h", "g", "S", "D", "d", "T", "d_k", "p_i", "p_j", "m", "b", "l", "r")
SYMBOLS = dict.fromkeys((*NAMES, "m_new", "sigma", "lambda"), "")


def question(id_: str) -> dict[str, Any]:
    (path,) = ROOT.glob(f"*/{id_}.yaml")
    return loader.load_file(path).model_dump(mode="json")


def same(text: str, target: str) -> bool:
    step = {
        "answer": parse(text, SYMBOLS).to_json(),
        "candidates": [parse(target, SYMBOLS).to_json()],
    }
    equal = {"m_new": parse("max(m, b)", SYMBOLS).to_json()}
    return algebra.first_equal(step, equal) == 0


@pytest.mark.parametrize(
    ("target", "texts"),
    [
        (
            "1/sqrt(d_k)",
            [
                "d_k**-0.5",
                "d_k^(-1/2)",
                "1/√d_k",
                "1/√(dk)",
                "1/√dₖ",
                r"\frac{1}{\sqrt{d_k}}",
                r"\dfrac{1}{\sqrt{d_{k}}}",
                r"$1/\sqrt{d_k}$",
                "1/d_k^0.5",
                "1 / math.sqrt( d_k )",
                "1/np.sqrt(d_k)",
                "sqrt(d_k)/d_k",
                "scale = 1/sqrt(d_k)",
                "exp(-log(d_k)/2)",
                r"\frac1{\sqrt{d_k}}",
                r"\frac 1 {\sqrt d_k}",
                r"d_k^{-\frac12}",
                r"1/\sqrt{d\_k}",
                r"1/\sqrt[2]{d_k}",
                "(√d_k)⁻¹",
                "(d_k^½)^-1",
                "pow(d_k, -0.5)",
                "rsqrt(d_k)",
                "1/SQRT(d_k)",
                "one / sqrt(d_k)",
                "**1/sqrt(d_k)**",
                "`1/sqrt(d_k)`",
                "1/sqrt(d_k) # the scale",
                "1/sqrt(d_k) (the inverse deviation)",
                "→ 1/sqrt(d_k)",
                r"c^2 d_k = 1 \Rightarrow 1/\sqrt{d_k}",
            ],
        ),
        ("4*B*h*S*D", ["4BhSD", "4 B h S D", "4·B·h·S·D", "4×B×h×S×D", r"4 \cdot BhSD", "2*2BhSD"]),
        ("4*B*h*S*D", ["4 x B x h x S x D", "4BhSD FLOPs", "4 B h S D bytes", "4 B h S D (FLOPs)"]),
        ("h/g", [r"\frac hg", r"\tfrac{h}g", "h/g FLOP/byte", "h/g FLOPs per byte"]),
        ("24*d^2", ["24d^2", "24d²", "24 d d", "24 d**2", "24d^{2}", "6 (2d)^2", "= 24 d^2."]),
        ("4*T*d", ["4Td", "4 d T", "2Td + 2Td", "(4T)d", "4T(d)"]),
        ("p_i*(1-p_i)", ["p_i(1-p_i)", "p_i - p_i^2", r"p_{i}\left(1-p_{i}\right)", "pᵢ(1−pᵢ)"]),
        ("-p_i*p_j", ["-p_i p_j", "-p_ip_j", "-pipj", "p_i(0 - p_j)"]),
        ("max(m, b)", [r"\max(m, b)", r"\max\{m, b\}", "m_new", "max(b, m)", "m_new := max(m,b)"]),
        (
            "exp(m - m_new)*l + exp(b - m_new)*r",
            [
                "exp(m-m_new) l + exp(b-m_new) r",
                r"e^{m - m_{\text{new}}} l + e^{b - m_{\mathrm{new}}} r",
                r"l\exp(m - m_{new}) + r \exp\left(b - m_{new}\right)",
                "(l e^m + r e^b) / e^(m_new)",
                "exp(m - max(m, b)) l + exp(b - max(m, b)) r",
                "l*np.exp(m - m_new) + r*np.exp(b - m_new)",
            ],
        ),
        ("d_k*sigma^4", ["d_k σ⁴", r"d_k \sigma^4", "σ^2 σ^2 d_k", "dk(sigma**2)**2"]),
        ("0", ["0", "d - d", "1 - p_i - (1 - p_i)", "0.0"]),
        ("h/g", [r"\frac{h}{g}", r"\frac{4BhSD}{4BgSD}", "4BhSD/(4BgSD)", "h g^-1", "(h)/(g)"]),
        ("lambda*d", ["λ d", r"\lambda d", "lambda*d"]),
    ],
)
def test_every_notation_is_the_same_mathematics(target: str, texts: list[str]) -> None:
    for text in texts:
        assert same(text, target), text


@pytest.mark.parametrize(
    ("text", "target"),
    [
        ("1/d_k", "1/sqrt(d_k)"),
        ("p_i*p_j", "-p_i*p_j"),
        ("min(m, b)", "max(m, b)"),
        ("m + b", "max(m, b)"),
        ("exp(m)*l + exp(b)*r", "exp(m - m_new)*l + exp(b - m_new)*r"),
        ("d_k + 10^(-50)", "d_k"),
        ("1.0001*d", "d"),
        ("S*d", "B*d"),
    ],
)
def test_what_differs_is_told_apart(text: str, target: str) -> None:
    assert not same(text, target)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "missing"),
        ("x = ", "missing"),
        ("1/2d", "two ways"),
        ("1/Td", "two ways"),
        ("4BhSD/4BgSD", "two ways"),
        ("√2d", "root reaches"),
        ("√d_k^2", "root reaches"),
        ("T^hd", "power reaches"),
        ("d_k^1/2", "1/2” can be read in two ways"),
        ("d_k^-1/2", "-1/2” can be read in two ways"),
        ("foo", "“foo” is not a name"),
        ("D_k", "Did you mean d_k"),
        ("d_model", "use B, h, g"),
        ("9^9^9", "exponent"),
        ("d^1000", "exponent"),
        ("(9^60)^60", "too large"),
        ("((((", "missing before"),
        ("(m + b", "not closed"),
        ("m + b)", "too many"),
        ("(" * 100 + "m" + ")" * 100, "too deeply"),
        ("exp m", "needs brackets"),
        ("max(m)", "two values"),
        ("exp(m, b)", "one value"),
        ("2 3", "without a sign"),
        ("d 2", "without a sign"),
        (r"\sum_j p_j", "not read"),
        ("d_k ≈ 3", "exact"),
        ("m if b else l", "not a name"),
        ("__import__('os')", "not read"),
        ("d.real", "not read"),
        ("lambda: 0", "not read"),
        ("m\x00", "control character"),
        ("m" * 401, "characters"),
        ("1+" * 150 + "1", "too long"),
        ("-" * 10 + "m", "signs"),
        ("1e999 d", "too long"),
        (r"\frac d_k", "two brackets"),
    ],
)
def test_what_cannot_be_read_says_what_to_write(text: str, says: str) -> None:
    with pytest.raises(Unreadable, match=says) as caught:
        parse(text, SYMBOLS)
    assert len(str(caught.value)) < 250


def test_names_side_by_side_are_read_only_where_there_is_one_way() -> None:
    assert written(parse("4BhSD", SYMBOLS)) == "4*B*h*S*D"
    assert written(parse("dk", {"d_k": ""})) == "d_k"
    with pytest.raises(Unreadable, match="can be read as"):
        parse("dk", {"d_k": "", "d": "", "k": ""})


ATOMS = st.sampled_from(["d_k", "T", "m", "b", "2", "3", "0.5", "24"])


def _node(op: str, *args: Node) -> Node:
    return Node(op, args)


def _atom(text: str) -> Node:
    return Node("sym" if text[0].isalpha() else "num", value=text)


TREES = st.recursive(
    ATOMS.map(_atom),
    lambda t: st.one_of(
        st.builds(_node, st.sampled_from(["add", "sub", "mul", "div"]), t, t),
        st.builds(_node, st.sampled_from(["max", "min"]), t, t),
        st.builds(_node, st.just("neg"), t),
        st.builds(_node, st.just("sqrt"), t),
        st.builds(lambda a, n: Node("pow", (a, Node("num", value=n))), t, st.sampled_from("23")),
    ),
    max_leaves=7,
)


def _python(node: Node) -> str:
    return written(node).replace("^", "**").replace("sqrt", "math.sqrt")


def _latex(node: Node) -> str:
    a = [_latex(arg) for arg in node.args]
    if node.op in ("num", "sym"):
        return node.value.replace("d_k", "d_{k}")
    if node.op == "div":
        return rf"\frac{{{a[0]}}}{{{a[1]}}}"
    if node.op in ("max", "min"):
        return rf"\{node.op}\left({a[0]}, {a[1]}\right)"
    if node.op == "sqrt":
        return rf"\sqrt{{{a[0]}}}"
    if node.op == "neg":
        return rf"\left(-{a[0]}\right)"
    if node.op == "pow":
        return rf"\left({a[0]}\right)^{{{a[1]}}}"
    sign = {"add": " + ", "sub": " - ", "mul": r" \cdot "}[node.op]
    return rf"\left({a[0]}{sign}{a[1]}\right)"


def _unicode(node: Node) -> str:
    a = [_unicode(arg) for arg in node.args]
    if node.op in ("num", "sym"):
        return node.value.replace("d_k", "dₖ")
    if node.op in ("max", "min"):
        return f"{node.op}({a[0]}, {a[1]})"
    if node.op == "sqrt":
        return f"√({a[0]})"
    if node.op == "neg":
        return f"(−{a[0]})"
    if node.op == "pow":
        return f"({a[0]}){'²' if a[1] == '2' else '³'}"
    if node.op == "mul" and not a[1][0].isdigit():
        return f"({a[0]})({a[1]})"
    sign = {"add": " + ", "sub": " − ", "mul": "·", "div": "/"}[node.op]
    return f"({a[0]}{sign}{a[1]})"


@given(TREES)
@example(
    Node("pow", (Node("sqrt", (Node("neg", (Node("num", value="2"),)),)), Node("num", value="2")))
)
@settings(max_examples=60, deadline=None)
def test_a_printed_expression_reads_back_as_the_same_mathematics(tree: Node) -> None:
    for text in (written(tree), _python(tree), _latex(tree), _unicode(tree)):
        assume(len(text) <= 400)
        step = {"answer": parse(text, SYMBOLS).to_json(), "candidates": [tree.to_json()]}
        try:
            result = algebra.first_equal(step, {})
        except ZeroDivisionError:
            assume(False)
        assert result in (0, algebra.UNDEFINED), text


@given(st.text(max_size=420))
@settings(max_examples=300, deadline=500)
def test_any_text_parses_or_is_refused(text: str) -> None:
    with suppress(Unreadable):
        parse(text, SYMBOLS)


TOKENS = ["d_k", "m", "sqrt", "exp", "max", "e", r"\frac", "**", *"b(){}[]^/*+-√,=_2² "]


@given(st.lists(st.sampled_from(TOKENS), max_size=120))
@settings(max_examples=300, deadline=500)
def test_any_row_of_tokens_parses_or_is_refused(tokens: list[str]) -> None:
    with suppress(Unreadable):
        parse("".join(tokens), SYMBOLS)


def test_a_right_derivation_passes_whole() -> None:
    asked = question("derive-sqrt-dk")
    text = "0\nVar(q_j k_j) = 1\nd_k\n√d_k\n\\frac{1}{\\sqrt{d_k}}"
    report = grade_answer(asked, text, 3, {})
    assert (report.verdict, report.score, report.seed) == ("passed", 1.0, 3)
    assert [p["id"] for p in parts(asked)] == [p.id for p in report.parts]


def test_a_wrong_step_is_named_and_later_steps_count() -> None:
    report = grade_answer(question("derive-sqrt-dk"), "0\n1\nd_k^2\nsqrt(d_k)\n1/d_k", 0, {})
    assert report.verdict == "partial"
    assert [p.verdict for p in report.parts] == [
        "passed",
        "passed",
        "wrong_answer",
        "passed",
        "wrong_answer",
    ]
    assert [m.id for m in report.mistakes] == ["scaled-like-a-constant", "by-the-variance"]
    assert report.score == 0.6


def test_an_unreadable_step_is_invalid_and_the_others_are_graded() -> None:
    report = grade_answer(question("derive-sqrt-dk"), "0\n1\nfoo\nsqrt(d_k)\n1/(d_k - d_k)", 0, {})
    assert [p.verdict for p in report.parts][2:] == ["invalid", "passed", "wrong_answer"]
    assert "foo" in report.parts[2].message
    assert "no value" in report.parts[4].message


@pytest.mark.parametrize("text", ["", "0\n1", "0\n1\n2\n3\n4\n5", "import os"])
def test_a_wrong_number_of_lines_says_what_is_asked(text: str) -> None:
    report = grade_answer(question("derive-sqrt-dk"), text, 0, {})
    assert report.verdict == "invalid"
    assert "5 expressions, one a line (mean-product," in report.summary


def test_labels_numbers_and_semicolons_may_mark_the_steps() -> None:
    asked = question("derive-sqrt-dk")
    labelled = "mean-product: 0\nvar-product: 1\n3. d_k\n\n4) sqrt(d_k)\nscale: d_k^-0.5\n"
    assert grade_answer(asked, labelled, 0, {}).verdict == "passed"
    assert grade_answer(asked, "0; 1; d_k; sqrt(d_k); 1/sqrt(d_k)", 0, {}).verdict == "passed"


@pytest.mark.parametrize(
    "text",
    [
        "1) 0\n2) 1\n3) d_k\n4) sqrt(d_k)\n5) 1/sqrt(d_k)",
        "(1) 0\n(2) 1\n(3) d_k\n(4) sqrt(d_k)\n(5) 1/sqrt(d_k)",
        "1: 0\n2: 1\n3: d_k\n4: sqrt(d_k)\n5: 1/sqrt(d_k)",
        "1.0\n2.1\n3.d_k\n4.sqrt(d_k)\n5. 1/sqrt(d_k)".replace("1.0", "1. 0").replace(
            "2.1", "2. 1"
        ),
        "a) 0\nb) 1\nc) d_k\nd) sqrt(d_k)\ne) 1/sqrt(d_k)",
        "step 1: 0\nstep 2: 1\nstep 3: d_k\nstep 4: sqrt(d_k)\nstep 5: 1/sqrt(d_k)",
        "- 0\n- 1\n- d_k\n- sqrt(d_k)\n- 1/sqrt(d_k)",
        "* 0\n* 1\n* d_k\n* sqrt(d_k)\n* 1/sqrt(d_k)",
        "mean: 0\nVar(q_j k_j): 1\nVar(q·k): d_k\nstd: sqrt(d_k)\nfactor: 1/sqrt(d_k)",
        "```\n0\n1\nd_k\nsqrt(d_k)\n1/sqrt(d_k)\n```",
    ],
)
def test_lists_and_labels_of_every_kind_are_not_mathematics(text: str) -> None:
    assert grade_answer(question("derive-sqrt-dk"), text, 0, {}).verdict == "passed"


def test_a_sign_is_no_bullet_and_a_colon_between_names_is_a_quotient() -> None:
    jacobian = question("derive-softmax-jacobian")
    assert grade_answer(jacobian, "p_i(1-p_i)\n- p_i p_j\n0", 0, {}).verdict == "passed"
    assert grade_answer(jacobian, "p_i(1-p_i)\np_i p_j\n0", 0, {}).verdict == "partial"
    decode = question("derive-decode-intensity")
    assert grade_answer(decode, "4BhSD\n4BgSD\nh : g", 0, {}).verdict == "passed"
    assert grade_answer(decode, "4BhSD\n4BgSD\ng : h", 0, {}).verdict == "partial"


def test_one_line_without_end_or_sense_leaves_the_others_graded() -> None:
    tower = "exp(d_k)^exp(d_k)^exp(d_k)"
    for bad in (tower, "d_k^d_k^d_k^d_k", "max(sqrt(-d_k), 1)", "log(0)"):
        report = grade_answer(question("derive-sqrt-dk"), f"0\n{bad}\nd_k\n√d_k\nd_k^-0.5", 0, {})
        assert [p.verdict for p in report.parts].count("passed") == 4, bad


def test_an_earlier_result_may_be_used_by_its_name() -> None:
    asked = {
        **question("derive-sqrt-dk"),
        "symbols": {"m": "", "b": "", "m_new": "", "l": ""},
        "steps": [
            {"id": "m-new", "asks": "the new maximum", "target": "max(m, b)", "mistakes": []},
            {"id": "l-new", "asks": "the sum", "target": "exp(m - m_new)*l", "mistakes": []},
        ],
    }
    assert grade_answer(asked, "max(m,b)\nexp(m - max(m, b)) l", 0, {}).verdict == "passed"
    assert grade_answer(asked, "max(m,b)\nexp(m - m_new) l", 0, {}).verdict == "passed"
    assert grade_answer(asked, "max(m,b)\nexp(m) l", 0, {}).verdict == "partial"


def test_values_decide_what_is_too_large_to_expand() -> None:
    # Equal at every point, and far too large to expand.
    square = "(B+h+g)^2 + 2*(B+h+g)*(S+D+T) + (S+D+T)^2"
    long = parse(f"d*(B+h+g+S+D+T)^64 / ({square})^32", SYMBOLS).to_json()
    step = {"answer": long, "candidates": [["sym", "B", []], ["sym", "d", []]]}
    start = time.perf_counter()
    assert algebra.compare({"steps": [step, step]}) == [1, 1]
    assert time.perf_counter() - start < 8


def test_a_comparison_that_takes_too_long_is_killed_and_said() -> None:
    good = {"answer": ["num", "1", []], "candidates": [["num", "1", []]]}
    assert algebra.compare({"steps": [good, good]}, 0.001) == [None, None]


@pytest.mark.parametrize(
    "text",
    ["d + exp(-10^6 d)", "d*(1 + 10^(-40))", "d + 10^(-50)*d", "d + exp(-10^6/d)", "d + 10^(-50)"],
)
def test_a_difference_too_small_to_see_is_still_one(text: str) -> None:
    assert not same(text, "d")


def test_towers_of_exponentials_do_no_harm() -> None:
    text = "exp(exp(exp(exp(exp(exp(d))))))"
    steps = [{"answer": parse(text, SYMBOLS).to_json(), "candidates": [["num", "1", []]]}]
    assert algebra.compare({"steps": steps}, 5.0)[0] in (algebra.UNDEFINED, -1, None)
