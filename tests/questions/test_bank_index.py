"""The index: what serving reads in place of the YAML files."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from bank_texts import COMPUTE, K_WITHOUT_V, choice
from hypothesis import given, settings
from hypothesis import strategies as st

from questions import index
from questions.findings import BankError
from questions.index import load, teaching_order
from questions.loader import load_bank

Put = Callable[[str, str], Path]
HEAVY = ("yaml", "pydantic", "torch", "numpy", "matplotlib", "sympy", "jinja2")


@pytest.fixture
def bank(put: Put) -> Path:
    put("basics/cache-size.yaml", COMPUTE)
    put("basics/which.yaml", choice("which", follows="cache-size"))
    put("axes/early.yaml", choice("early", topic="axes", level=2))
    return put("mistakes/all.yaml", K_WITHOUT_V).parent.parent


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    return tmp_path / "cache"


def test_questions_are_the_models_as_plain_data(bank: Path) -> None:
    loaded = load(bank)
    for id_, question in load_bank(bank).items():
        assert loaded.questions[id_] == {**question.model_dump(mode="json"), "revision": 1}
    assert loaded.mistakes["k-without-v"]["title"] == "Keys alone"


def test_revision_is_the_last_one(put: Put) -> None:
    revisions = "revisions: [{number: 2, reason: clearer}, {number: 3, reason: shorter}]\n"
    root = put("basics/which.yaml", choice("which") + revisions).parent.parent
    assert load(root).questions["which"]["revision"] == 3


def test_order_puts_what_is_followed_first_then_level_then_topic(bank: Path) -> None:
    assert load(bank).order == ["early", "cache-size", "which"]


def test_a_cached_index_equals_the_one_built(bank: Path, cache: Path) -> None:
    built = load(bank, cache)
    assert (cache / index.CACHE).is_file()
    assert load(bank, cache) == built == load(bank)


def test_a_fresh_cache_is_used_and_heavy_modules_stay_out(bank: Path, cache: Path) -> None:
    load(bank, cache)
    code = (
        "import sys; from questions.index import load; "
        f"i = load({str(bank)!r}, {str(cache)!r}); i.suggest('whic'); "
        f"print(len(i.questions), [m for m in {HEAVY!r} if m in sys.modules])"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "3 []"


def test_any_change_of_the_bank_makes_the_cache_stale(bank: Path, cache: Path) -> None:
    load(bank, cache)
    (bank / "basics/new.yaml").write_text(choice("new"))
    assert "new" in load(bank, cache).questions
    path = bank / "axes/early.yaml"
    path.write_text(path.read_text().replace("Which axis", "What axis?"))
    assert load(bank, cache).questions["early"]["title"] == "What axis?"
    path.unlink()
    assert "early" not in load(bank, cache).questions
    texts = bank / "mistakes/all.yaml"
    texts.write_text(texts.read_text().replace("Keys alone", "Only keys"))
    assert load(bank, cache).mistakes["k-without-v"]["title"] == "Only keys"


def test_a_cache_of_another_bank_is_not_taken(bank: Path, cache: Path, tmp_path: Path) -> None:
    load(bank, cache)
    other = tmp_path / "other"
    (other / "basics").mkdir(parents=True)
    (other / "basics/only.yaml").write_text(choice("only"))
    assert load(other, cache).order == ["only"]
    assert len(load(bank, cache).order) == 3


def damage(raw: bytes) -> list[bytes]:
    head, body = raw.split(b"\n", 1)
    return [
        b"",
        b"\x00" * 50,
        head,
        raw[: len(raw) // 2],
        raw[:-1],
        raw.replace(b"Which axis", b"Which exis", 1),
        head + b"\n[]",
        head.replace(b" 1 ", b" 0 ", 1) + b"\n" + body,
        b"[" * 100_000,
    ]


def test_a_damaged_cache_is_made_anew(bank: Path, cache: Path) -> None:
    built = load(bank, cache)
    path = cache / index.CACHE
    raw = path.read_bytes()
    for damaged in damage(raw):
        assert damaged != raw
        path.write_bytes(damaged)
        assert load(bank, cache) == built
        assert path.read_bytes() == raw


def test_where_no_cache_can_be_written_the_bank_is_read(bank: Path, tmp_path: Path) -> None:
    in_the_way = tmp_path / "file"
    in_the_way.write_text("x")
    assert len(load(bank, in_the_way / "cache").order) == 3
    taken = tmp_path / "taken"
    (taken / index.CACHE).mkdir(parents=True)
    assert len(load(bank, taken).order) == 3
    assert [p.name for p in taken.iterdir()] == [index.CACHE]


def test_writing_leaves_no_other_file(bank: Path, cache: Path) -> None:
    load(bank, cache)
    assert [p.name for p in cache.iterdir()] == [index.CACHE]


def test_a_broken_bank_is_refused_even_with_an_old_cache(bank: Path, cache: Path) -> None:
    load(bank, cache)
    (bank / "basics/which.yaml").write_text("id: [")
    with pytest.raises(BankError, match=r"which\.yaml:\d+:\d+: not valid YAML"):
        load(bank, cache)


def test_a_bank_that_is_not_there_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(BankError, match="the bank cannot be read: no such file or directory"):
        load(tmp_path / "absent")


def test_many_processes_share_one_cache(bank: Path, cache: Path) -> None:
    code = (
        "from questions.index import load; "
        f"print(len(load({str(bank)!r}, {str(cache)!r}).questions))"
    )
    running = [
        subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE) for _ in range(4)
    ]
    assert [process.communicate()[0].strip() for process in running] == [b"3"] * 4
    assert [p.name for p in cache.iterdir()] == [index.CACHE]


def test_fingerprint_changes_with_the_bank_only(bank: Path) -> None:
    before = load(bank).fingerprint
    assert load(bank).fingerprint == before
    os.utime(bank / "axes/early.yaml", ns=(1, 1))
    assert load(bank).fingerprint != before


@pytest.mark.parametrize(
    ("typed", "first"),
    [("cache_size", "cache-size"), ("cahce-size", "cache-size"), ("Whcih", "which"),
     ("cache", "cache-size"), ("EARLY ", "early")],
)  # fmt: skip
def test_suggestions_name_what_was_meant(bank: Path, typed: str, first: str) -> None:
    assert load(bank).suggest(typed)[:1] == [first]


@pytest.mark.parametrize("typed", ["", "  ", "-", "zzzzzz"])
def test_nothing_like_it_suggests_nothing(bank: Path, typed: str) -> None:
    assert load(bank).suggest(typed) == []


@st.composite
def graphs(draw: st.DrawFn) -> dict[str, dict[str, object]]:
    ids = draw(st.permutations([f"q{i}" for i in range(draw(st.integers(0, 12)))]))
    return {
        id_: {
            "level": draw(st.integers(1, 4)),
            "topic": draw(st.sampled_from("abc")),
            "follows": draw(st.lists(st.sampled_from(ids[:i]), unique=True)) if i else [],
        }
        for i, id_ in enumerate(ids)
    }


@settings(max_examples=100, deadline=None)
@given(graph=graphs(), seed=st.randoms())
def test_order_holds_every_question_once_after_all_it_follows(graph, seed) -> None:  # type: ignore[no-untyped-def]
    order = teaching_order(graph)
    assert sorted(order) == sorted(graph)
    place = {id_: i for i, id_ in enumerate(order)}
    for id_, question in graph.items():
        assert all(place[before] < place[id_] for before in question["follows"])
    shuffled = list(graph.items())
    seed.shuffle(shuffled)
    assert teaching_order(dict(shuffled)) == order
    for i, id_ in enumerate(order):
        # Whatever could have come before it and did not ranks after it.
        ready = [o for o in order[i:] if all(place[f] < i for f in graph[o]["follows"])]
        assert id_ == min(ready, key=lambda o: (graph[o]["level"], graph[o]["topic"], o))


def test_the_cache_holds_nothing_but_json(bank: Path, cache: Path) -> None:
    load(bank, cache)
    body = (cache / index.CACHE).read_bytes().split(b"\n", 1)[1]
    assert set(json.loads(body)) == {"questions", "order", "mistakes"}
