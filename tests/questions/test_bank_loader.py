"""Question files are read strictly, and each finding says where it is."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from bank_texts import CODE, COMPUTE, K_WITHOUT_V, MISTAKES, choice
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from questions import index, loader
from questions.document import LARGEST_FILE, parse
from questions.findings import BankError
from questions.loader import DEFAULT_ROOT, json_schema, load_bank, load_file, load_mistakes

Put = Callable[[str, str], Path]


def refused(path: Path) -> list[str]:
    """`line:column: message` of each finding about `path`."""
    with pytest.raises(BankError) as caught:
        load_bank(path)
    return [f"{f.line}:{f.column}: {f.message}" for f in caught.value.findings]


def test_a_good_file_loads_with_its_defaults(put: Put) -> None:
    question = load_file(put("basics/which.yaml", choice("which")))
    assert (question.id, question.level, question.several) == ("which", 1, False)
    assert [option.correct for option in question.options] == [True, False]


def test_a_single_file_is_a_bank_of_one(put: Put) -> None:
    assert list(load_bank(put("basics/which.yaml", choice("which")))) == ["which"]


def test_plain_scalars_are_read_as_in_yaml_1_2() -> None:
    text = "a: yes\nb: 1e-4\nc: 010\nd: 2026-01-01\ne: -.inf\nf: 12\ng: ~\nh: '12'\ni: 1:30"
    data = parse("x.yaml", text).data
    assert data == {
        "a": "yes", "b": 1e-4, "c": "010", "d": "2026-01-01", "e": float("-inf"),
        "f": 12, "g": None, "h": "12", "i": "1:30",
    }  # fmt: skip


CHANGES = [
    ("level: 1", "level: 9", ["5:8: `level` must be at most 4"]),
    ("level: 1", "level: '1'", ["5:8: `level` must be a whole number: it stands there as text"]),
    ("level: 1", "level: 1\nlevel: 2",
     ["6:1: `level` was given before, on line 5: keep one of the two"]),
    ("minutes: 2\n", "", ["1:1: `minutes` is missing: add it"]),
    ("title: Which axis", "title: 2026", ["2:8: `title` must be text: put it in quotes"]),
    ("title: Which axis", "title:", ["2:7: `title` is empty: write its text"]),
    ("kind: choice", "kind: choise",
     ["3:7: `choise` is no kind of question: take one of code, debug, kernel, compute, derive, "
      "trace, choice, explain; did you mean `choice`?"]),
    ("kind: choice\n", "",
     ["1:1: `kind` is missing: add one of code, debug, kernel, compute, derive, trace, "
      "choice, explain"]),
    ("explanation: Each", "explenation: Each",
     ["1:1: `explanation` is missing: add it",
      "10:1: unknown key `explenation`; did you mean `explanation`?"]),
    ("correct: true", "corect: true",
     ["14:5: `options[0].correct` is missing: add it",
      "14:33: unknown key `options[0].corect`; did you mean `correct`?"]),
    ("correct: true", "correct: yes",
     ["14:42: `options[0].correct` must be true or false: it stands there as text"]),
    ("hints: [One., Two., Three.]", "hints: [One.]",
     ["9:8: `hints` has 1 entry, of at least 3: add to it"]),
    ("sources:", "sources: &a", ["11:10: anchors (&name) are not taken: write the part out "
                                 "where needed"]),
    ("level: 1", "level: *a", ["5:8: aliases (*name) are not taken: write the part out"]),
    ("level: 1", "level: !!python/object:os.system 1",
     ["5:8: tags (!name) are not taken: write plain text, numbers and lists"]),
    ("follows: []", "follows: [nix", ["13:8: not valid YAML: did not find expected ',' or ']'"]),
    ("level: 1", "level: 1" + "0" * 40, ["5:8: this number is too large: at most 17 digits"]),
    ("id: which", "id: Which",
     ["1:5: `id` may hold only a-z, 0-9 and single hyphens between them"]),
    ("id: which", "id: other",
     ["1:5: `id` is `other`, the file `which.yaml`: name the file `other.yaml`"]),
    ("topic: basics", "topic: masks",
     ["4:8: `topic` is `masks`, the folder `basics`: make them the same"]),
]  # fmt: skip


@pytest.mark.parametrize(("before", "after", "findings"), CHANGES)
def test_a_fault_is_told_at_its_place(
    put: Put, before: str, after: str, findings: list[str]
) -> None:
    text = choice("which")
    assert before in text
    assert refused(put("basics/which.yaml", text.replace(before, after))) == findings


INPUTS = [
    ("[B, \"H * D\"], about", "[B, 1.5], about",
     ["13:18: `inputs.q.shape[1]` must be a whole number or a size such as H * D"]),
    ("about: queries", "fil: normal", ["13:28: unknown key `inputs.q.fil`; did you mean `fill`?"]),
    ("{value: H}", "{valu: H}",
     ["14:6: `inputs.n.value` is missing: add it",
      "14:7: unknown key `inputs.n.valu`; did you mean `value`?"]),
    ("[0, [1, null]]", "[0, [1, 2, 3]]",
     ["29:49: `cases[1].inputs.q.edits[0].at[1]` must be an index, null for the whole axis, "
      "or [start, stop]"]),
    ("times: 30.0", "set: x",
     ["29:66: `cases[1].inputs.q.edits[0].set` must be a number, true or false"]),
    ("reduction: D", "reduction: [1]",
     ["21:12: `reduction` must be a whole number or a size such as H * D"]),
    ("{B: 1, H: 1, D: 2}", "{B: x, H: 1, D: 2}",
     ["24:38: `cases[0].sizes.B` must be a whole number: it stands there as text"]),
    ("reference: reference", "reference: torch",
     ["19:12: `reference` must be a dotted name such as reference.rope.rotate"]),
]  # fmt: skip


@pytest.mark.parametrize(("before", "after", "findings"), INPUTS)
def test_a_fault_where_several_kinds_of_value_fit_is_one_finding(
    put: Put, before: str, after: str, findings: list[str]
) -> None:
    assert before in CODE
    assert refused(put("basics/scaled.yaml", CODE.replace(before, after))) == findings


def test_several_findings_come_together_and_in_order(put: Put) -> None:
    put("basics/which.yaml", choice("which", level=7).replace("minutes: 2", "minutes: 0"))
    put("axes/other.yaml", choice("other", topic="axes").replace("kind", "king"))
    with pytest.raises(BankError) as caught:
        load_bank(put("basics/x.txt", "").parent.parent)
    places = [(Path(f.path).name, f.line) for f in caught.value.findings]
    assert places == [("other.yaml", 1), ("which.yaml", 5), ("which.yaml", 6)]
    assert str(caught.value).splitlines()[0].startswith(f"{caught.value.findings[0].path}:1:1: ")


@pytest.mark.parametrize(
    ("raw", "finding"),
    [
        (b"", "1:1: the file is empty: begin with `id: ...`"),
        (b"# nothing\n", "1:1: the file is empty: begin with `id: ...`"),
        (b"- a\n", "1:1: the top must be `key: value`: begin with `id: ...`"),
        (b"id: a\nb: \xff\n", "2:4: the file is not UTF-8 text: save it as UTF-8"),
        (b"id: a\nb: x\x07\n", "2:5: a control character is not taken: remove it"),
        (b"a: 1\n---\nb: 2\n", "2:1: a file holds one document: remove what follows the `---`"),
        (b"~\n---\nb: 2\n", "2:1: a file holds one document: remove what follows the `---`"),
        (b"[" * 90, "1:41: nested more than 40 deep: flatten it"),
        (b"? [a]\n: b\n", "1:3: a key must be a word, not a list, a mapping or null"),
    ],
)
def test_a_file_that_is_no_question_is_one_sentence(
    tmp_path: Path, raw: bytes, finding: str
) -> None:
    path = tmp_path / "a.yaml"
    path.write_bytes(raw)
    assert refused(path) == [finding]


def test_an_alias_bomb_is_refused_at_once(tmp_path: Path) -> None:
    rows = ["a0: &a0 [x, x]"] + [f"a{i}: &a{i} [*a{i - 1}, *a{i - 1}]" for i in range(1, 40)]
    path = tmp_path / "a.yaml"
    path.write_text("\n".join(rows))
    assert refused(path)[-1] == "2:10: aliases (*name) are not taken: write the part out"


def test_a_large_file_is_refused_unread(tmp_path: Path) -> None:
    path = tmp_path / "a.yaml"
    path.write_text("a: " + "x" * LARGEST_FILE)
    assert refused(path) == [
        "1:1: the file is larger than 256 KiB: shorten it, or split the question"
    ]


def test_what_is_not_a_file_is_refused_without_waiting(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe.yaml"
    os.mkfifo(pipe)
    for path in (pipe, tmp_path):
        with pytest.raises(BankError, match="this is not a file: give a YAML file"):
            load_file(path)
    with pytest.raises(BankError, match="cannot be read: no such file or directory"):
        load_file(tmp_path / "absent.yaml")


def test_an_empty_folder_is_no_bank(tmp_path: Path) -> None:
    with pytest.raises(BankError, match="no questions here"):
        load_bank(tmp_path)


def test_an_id_in_two_topics_is_refused(put: Put) -> None:
    put("axes/which.yaml", choice("which", topic="axes"))
    path = put("basics/which.yaml", choice("which"))
    assert refused(path.parent.parent) == [
        f"1:5: `which` is the id of {path.parent.parent}/axes/which.yaml too: rename one"
    ]


def test_follows_names_questions_that_are_there(put: Put) -> None:
    path = put("basics/which.yaml", choice("which", follows="nix"))
    assert refused(path.parent.parent) == [
        "12:11: `follows` names `nix`, which no question has as its id"
    ]


def test_follows_does_not_blame_a_question_for_its_broken_neighbour(put: Put) -> None:
    put("basics/a.yaml", choice("a", level=9))
    path = put("basics/b.yaml", choice("b", follows="a"))
    assert refused(path.parent.parent) == ["5:8: `level` must be at most 4"]


@pytest.mark.parametrize(
    ("follows", "circle"),
    [
        ({"a": "a"}, "a -> a"),
        ({"a": "b", "b": "a"}, "a -> b -> a"),
        ({"a": "b", "b": "c", "c": "b"}, "b -> c -> b"),
    ],
)
def test_a_circle_in_follows_is_told_once(put: Put, follows: dict[str, str], circle: str) -> None:
    for id_, before in follows.items():
        path = put(f"basics/{id_}.yaml", choice(id_, follows=before))
    findings = refused(path.parent.parent)
    assert len(findings) == 1
    assert f"`follows` goes in a circle: {circle}; take one link out" in findings[0]


def test_a_mistake_without_a_text_is_refused(put: Put) -> None:
    path = put("basics/cache-size.yaml", COMPUTE.replace("k-without-v", "my-own-slip"))
    root = path.parent.parent
    put("mistakes/all.yaml", MISTAKES)
    assert refused(root) == ["25:12: the mistake `my-own-slip` has no text: add it below mistakes/"]
    put("mistakes/all.yaml", MISTAKES + K_WITHOUT_V.replace("k-without-v", "my-own-slip"))
    assert list(load_bank(root)) == ["cache-size"]


def test_the_texts_of_mistakes_are_as_strict(put: Put) -> None:
    path = put("basics/cache-size.yaml", COMPUTE)
    put("mistakes/all.yaml", MISTAKES.replace("title", "titel") + "k-without-v: x\n")
    assert refused(path.parent.parent) == [
        "2:3: `title` is missing: add it",
        "2:3: unknown key `titel`; did you mean `title`?",
        "5:14: `k-without-v` must be a mapping with title, explanation and hint",
    ]


def test_a_bank_uses_the_shipped_texts_of_mistakes_where_it_has_none(put: Put) -> None:
    path = put("basics/cache-size.yaml", COMPUTE)
    put("mistakes/all.yaml", MISTAKES)
    shipped = load_mistakes(DEFAULT_ROOT)
    assert index.load(path.parent.parent).mistakes["k-without-v"] == shipped["k-without-v"]
    put("mistakes/all.yaml", K_WITHOUT_V)
    own = index.load(path.parent.parent).mistakes["k-without-v"]
    assert own != shipped["k-without-v"]
    assert K_WITHOUT_V.count(own["title"]) == 1


def test_a_mistake_has_one_text(put: Put) -> None:
    path = put("basics/cache-size.yaml", COMPUTE)
    put("mistakes/a.yaml", K_WITHOUT_V)
    put("mistakes/b.yaml", MISTAKES + K_WITHOUT_V)
    (finding,) = refused(path.parent.parent)
    assert "`k-without-v` stands in " in finding
    assert finding.endswith("a.yaml too: keep one")


def test_the_schema_is_plain_json_and_covers_every_kind() -> None:
    schema = json.loads(json.dumps(json_schema()))
    assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert schema["$id"] == loader.SCHEMA_ID
    assert schema["title"]
    kinds = {
        kind
        for definition in schema["$defs"].values()
        for kind in [definition.get("properties", {}).get("kind", {}).get("const")]
        if kind
    }
    assert kinds == {"code", "debug", "kernel", "compute", "derive", "trace", "choice", "explain"}
    assert all(ref["$ref"].split("/")[-1] in schema["$defs"] for ref in schema["oneOf"])


def read_or_refuse(path: Path) -> None:
    """Load; a refusal must say where, inside the file, in one line."""
    try:
        load_file(path)
        return
    except BankError as error:
        findings = error.findings
    assert findings
    lines = len(path.read_bytes().decode("utf-8", "replace").splitlines())
    for finding in findings:
        assert 1 <= finding.line <= lines + 1
        assert finding.column >= 1
        assert finding.message
        assert "\n" not in finding.message


FUZZ = settings(
    max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


@FUZZ
@given(raw=st.one_of(st.binary(max_size=300), st.text(max_size=200).map(lambda t: t.encode())))
def test_arbitrary_bytes_load_or_are_refused(tmp_path: Path, raw: bytes) -> None:
    path = tmp_path / "a.yaml"
    path.write_bytes(raw)
    read_or_refuse(path)


@FUZZ
@given(
    text=st.sampled_from([CODE, COMPUTE, choice("which")]),
    at=st.integers(0, 2000),
    cut=st.integers(0, 30),
    new=st.text(alphabet="abq01-.:,[]{}|>&*!?#'\"\\ \n\tHD~\u2028\ufeffé", max_size=12),
)
def test_mutated_questions_load_or_are_refused(
    tmp_path: Path, text: str, at: int, cut: int, new: str
) -> None:
    at %= len(text)
    path = tmp_path / "a.yaml"
    path.write_text(text[:at] + new + text[at + cut :], "utf-8", newline="")
    read_or_refuse(path)


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 10**20) | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["at", "id", "value", "shape", "int", "q"]), inner)
    ),
    max_leaves=5,
)


@FUZZ
@given(data=st.data())
def test_any_value_for_any_key_loads_or_is_refused(tmp_path: Path, data: st.DataObject) -> None:
    text = data.draw(st.sampled_from([CODE, COMPUTE, choice("which")]))
    tree = parse("x", text).data
    here = tree
    while True:
        key = data.draw(st.sampled_from(list(here) if isinstance(here, dict) else range(len(here))))
        below = here[key]
        if not isinstance(below, (dict, list)) or not below or data.draw(st.booleans()):
            here[key] = data.draw(VALUES)
            break
        here = below
    path = tmp_path / "a.yaml"
    path.write_text(json.dumps(tree, ensure_ascii=data.draw(st.booleans())), "utf-8", "replace")
    read_or_refuse(path)
