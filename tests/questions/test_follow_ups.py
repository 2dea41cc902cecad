"""What an interviewer asks next: the edges are checked, and the shipped graph leads on."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from bank_texts import CODE, MISTAKES, choice

from questions import index
from questions.content import check
from questions.findings import BankError

Put = Callable[[str, str], Path]
Questions = dict[str, dict[str, Any]]

LED = "follow_ups:\n  - {{on: missed, {}ask: which, says: Let us see.}}\n"
EDGES = [
    # what stands in place of the edges of `scaled`, a code question with the mistake scale-none
    ("{on: missed, ask: which, says: So.}", []),
    ("{on: missed, of: [scale-none], ask: which, says: So.}", []),
    ("{on: passed, ask: again, says: So., same_file: true, minutes: 5}", []),
    ("{on: missed, ask: nix, says: So.}",
     ["40:23: `ask` names `nix`, which no question has as its id"]),
    ("{on: missed, ask: scaled, says: So.}",
     ["40:23: `ask` names `scaled` itself: name another question"]),
    ("{on: failed, ask: which, says: So.}",
     ["40:10: `follow_ups[0].on` must be `missed` or `passed`"]),
    ("{on: missed, ask: which}", ["40:5: `follow_ups[0].says` is missing: add it"]),
    ("{on: missed, aks: which, ask: which, says: So.}",
     ["40:18: unknown key `follow_ups[0].aks`; did you mean `ask`?"]),
    ("{on: missed, of: [scale-twice], ask: which, says: So.}",
     ["40:23: `scale-twice` is no id that a report on `scaled` can name"]),
    ("{on: passed, of: [scale-none], ask: which, says: So.}",
     ["40:22: `of` says what was the trouble, and a passed question had none: remove it"]),
    ("{on: passed, ask: which, says: So., same_file: true}",
     ["40:52: no file goes on from a code to a choice question: `same_file` is for code and kernel "
      "questions"]),
    ("{on: passed, ask: again, says: So., minutes: 6}",
     ["40:50: `again` has a par time of 5 minutes: give no more"]),
    ("{on: passed, ask: again, says: So., minutes: long}",
     ["40:50: `follow_ups[0].minutes` must be a whole number: it stands there as text"]),
    ("{on: missed, ask: which, says: So.}\n  - {on: missed, ask: which, says: Well.}",
     ["41:5: `which` follows on the same terms above: keep one of the two"]),
    ("{on: missed, ask: again, says: So.}\n"
     "  - {on: missed, of: [scale-none], ask: which, says: Well.}",
     ["41:5: `follow_ups[0]` always comes first: put this one before it"]),
]  # fmt: skip


@pytest.fixture
def bank(put: Put) -> Path:
    put("mistakes/all.yaml", MISTAKES)
    put("basics/which.yaml", choice("which"))
    put("basics/again.yaml", CODE.replace("id: scaled", "id: again"))
    return put("basics/scaled.yaml", CODE).parent.parent


def edged(edges: str) -> str:
    return CODE + "follow_ups:\n  - " + edges + "\n"


@pytest.mark.parametrize(("edges", "findings"), EDGES)
def test_an_edge_that_leads_nowhere_is_told_at_its_place(
    bank: Path, edges: str, findings: list[str]
) -> None:
    path = bank / "basics/scaled.yaml"
    path.write_text(edged(edges))
    assert [str(f) for f in check(bank)] == [f"{path}:{finding}" for finding in findings]
    if findings:
        with pytest.raises(BankError):
            index.load(bank)
    else:
        index.load(bank)


def test_a_broken_question_is_not_blamed_on_those_that_lead_to_it(bank: Path) -> None:
    (bank / "basics/again.yaml").write_text("id: again\n")
    (bank / "basics/scaled.yaml").write_text(edged("{on: passed, ask: again, says: So.}"))
    assert {Path(finding.path).name for finding in check(bank)} == {"again.yaml"}


def test_a_file_without_a_bank_has_its_own_edges_checked(tmp_path: Path) -> None:
    path = tmp_path / "basics/scaled.yaml"
    path.parent.mkdir()
    path.write_text(edged("{on: missed, of: [scale-twice], ask: elsewhere, says: So.}"))
    (finding,) = check(path)
    assert finding.message == "`scale-twice` is no id that a report on `scaled` can name"


@pytest.mark.parametrize(("of", "known"), [("a", False), ("keys", True)])
def test_what_a_choice_can_miss_are_its_options(put: Put, of: str, known: bool) -> None:
    put("mistakes/all.yaml", MISTAKES)
    put("basics/which.yaml", choice("which"))
    path = put("basics/other.yaml", choice("other") + LED.format(f"of: [{of}], "))
    assert (check(path.parent.parent) == []) is known


def test_edges_are_served_as_plain_data(bank: Path) -> None:
    (bank / "basics/scaled.yaml").write_text(edged("{on: missed, ask: which, says: So.}"))
    assert index.load(bank).questions["scaled"]["follow_ups"] == [
        {"on": "missed", "of": [], "ask": "which", "says": "So.", "same_file": False,
         "minutes": None}
    ]  # fmt: skip


@pytest.fixture(scope="module")
def shipped() -> Questions:
    return index.load().questions


def edges(question: dict[str, Any], on: str, trouble: str = "") -> list[dict[str, Any]]:
    """Those that hold once the question ended, in the order of preference."""
    led = [edge for edge in question["follow_ups"] if edge["on"] == on]
    return [edge for edge in led if not edge["of"] or trouble in edge["of"]]


def interview(questions: Questions, first: str, on: str) -> list[str]:
    """The questions of an interview in which all end alike; none is asked twice."""
    asked = [first]
    while True:
        led = [e["ask"] for e in edges(questions[asked[-1]], on) if e["ask"] not in asked]
        if not led:
            return asked
        asked.append(led[0])


def test_every_question_leads_on_however_it_ends(shipped: Questions) -> None:
    assert sum(len(question["follow_ups"]) for question in shipped.values()) >= 40
    for id_ in shipped:
        # One edge alone would be spent where that question was asked before.
        assert len(interview(shipped, id_, "passed")) >= 3, id_
        assert len(interview(shipped, id_, "missed")) >= 3, id_


def test_a_miss_leads_back_to_something_that_is_not_much_harder(shipped: Questions) -> None:
    for id_, question in shipped.items():
        for edge in question["follow_ups"]:
            if edge["on"] == "missed":
                assert shipped[edge["ask"]]["level"] <= question["level"] + 1, (id_, edge["ask"])


@pytest.mark.parametrize(
    ("mistake", "concepts"),
    [
        ("softmax-over-queries", {"choice-softmax-axis"}),
        ("scale-none", {"derive-sqrt-dk"}),
        ("scale-by-model-width", {"derive-sqrt-dk"}),
        ("causal-missing", {"choice-causal-leak", "causal-mask"}),
        ("causal-mask-top-left", {"causal-mask", "explain-causal-kv-cache"}),
        ("causal-hides-self", {"causal-mask"}),
        ("mask-after-softmax", {"choice-padding-mask"}),
        ("kv-heads-tiled", {"choice-kv-heads"}),
        ("cache-positions-restart", {"choice-rope-and-cache"}),
        ("k-without-v", {"kv-bytes-per-token", "explain-causal-kv-cache"}),
    ],
)
def test_a_mistake_leads_to_the_concept_that_was_missed(
    shipped: Questions, mistake: str, concepts: set[str]
) -> None:
    makers = [id_ for id_, q in shipped.items() if mistake in q.get("mistakes", ())]
    assert makers
    for id_ in makers:
        assert edges(shipped[id_], "missed", mistake)[0]["ask"] in concepts, id_


@pytest.mark.parametrize(
    "ladder",
    [
        ("attention", "causal-mha", "gqa", "kv-cache-decode", "flash-attention", "fused-attention"),
        ("attention", "attention-backward"),
        ("attention", "linear-attention"),
        ("mqa", "gqa"),
        ("mla", "mla-decode"),
        ("online-softmax", "merge-attention", "flash-attention"),
        ("fused-softmax", "fused-attention", "fused-decode", "paged-decode-kernel"),
    ],
)
def test_the_rungs_of_a_code_ladder_go_on_in_one_file(
    shipped: Questions, ladder: tuple[str, ...]
) -> None:
    for lower, upper in pairwise(ladder):
        reached, waiting = {lower}, [lower]
        while waiting:
            for edge in edges(shipped[waiting.pop()], "passed"):
                if edge["same_file"] and edge["ask"] not in reached:
                    reached.add(edge["ask"])
                    waiting.append(edge["ask"])
        assert upper in reached
