from __future__ import annotations

import json
from pathlib import Path

import pytest
from conftest import Drill, right_answer
from histories import fill

from drills.options import KINDS


def practise(drill: Drill) -> None:
    for seed in ("5", "6"):
        shown = drill("show", "kv-cache-size", "--seed", seed, "--json").json
        wrong = str(float(right_answer(shown)) / 2)
        assert drill("answer", "kv-cache-size", wrong).code == 1
    assert drill("answer", "kv-cache-size", right_answer(shown)).code == 0


def test_stats_counts_what_was_done_and_the_mistakes_made(drill: Drill):
    practise(drill)
    found = drill("stats", "--json").json
    assert (found["attempts"], found["passes"], found["days"], found["streak"]) == (3, 1, 1, 1)
    topic = {row["topic"]: row for row in found["topics"]}["kv-cache"]
    assert (topic["tried"], topic["passed"]) == (1, 1)
    assert found["mistakes"][0]["times"] == 2
    assert found["next_due"]["question"] == "kv-cache-size"
    page = drill("stats").out
    assert found["mistakes"][0]["title"][:40] in page
    assert "drill next" in page.rstrip().splitlines()[-1]
    assert max(map(len, page.splitlines())) <= 80


def test_stats_fits_one_screen_and_says_what_was_done_besides(drill: Drill):
    fill(drill.home)
    found = drill("stats", "--json").json
    assert (found["attempts"], found["passes"], found["learned"]) == (36, 18, 3)
    assert (found["reviews"], found["kept"], found["labs"]) == (15, 12, 1)
    assert found["seconds"] == pytest.approx(18 * 360, abs=0.1)
    assert 0.9 < found["recall"] < 1
    assert found["interviews"]["finished"] == 3
    assert found["interviews"]["role"] == "inference"
    kinds = {row["kind"]: row for row in found["kinds"]}
    assert set(kinds) == set(KINDS)
    assert (kinds["code"]["passed"], kinds["compute"]["kept"]) == (2, 4)
    for columns in (80, 120):
        lines = drill("stats", COLUMNS=str(columns)).out.splitlines()
        assert len(lines) <= 24
        assert max(map(len, lines)) <= columns
        page = "\n".join(lines)
        for words in ("recalled in 80% of 15 reviews", "1 lab measured", "3 mock interviews",
                      "0 due now; causal-mask is due in", "18x"):  # fmt: skip
            assert words in page
    narrow = drill("stats", COLUMNS="50").out
    assert max(map(len, narrow.splitlines())) <= 50
    assert "mock interviews" in narrow


def test_a_report_is_written_where_it_is_asked_for_and_over_nothing_else(drill: Drill):
    ran = drill("report")
    (path,) = drill.work.glob("drill-report-????-??-??.html")
    assert (ran.code, ran.out) == (0, "")
    assert path.name in ran.err
    assert "drill next" in path.read_text()
    found = drill("report", "--json").json  # over its like
    assert (found["file"], found["bytes"]) == (str(path), path.stat().st_size)
    (drill.work / "notes.html").write_text("mine")
    refused = drill("report", "--out", "notes.html")
    assert (refused.code, (drill.work / "notes.html").read_text()) == (2, "mine")
    assert "--force" in refused.err
    assert drill("report", "--out", "notes.html", "--force").code == 0
    assert drill("report", "--out", "no/such.html").code == 4
    assert drill("report", "--out", ".").code == 2


def test_a_report_can_be_shown_in_the_browser(drill: Drill):
    script = drill.work / "browser"
    script.write_text('#!/bin/sh\necho "$1" > shown\n')
    script.chmod(0o755)
    assert drill("report", "--out", "mine.html", "--open", BROWSER=f"{script} %s").code == 0
    assert (drill.work / "shown").read_text().strip() == (drill.work / "mine.html").as_uri()


def test_stats_tells_what_is_unfinished_from_what_is_due(drill: Drill):
    assert "nothing tried yet" in drill("stats").out
    shown = drill("next", "--kind", "trace", "--json").json
    topic = {row["topic"]: row for row in drill("stats", "--json").json["topics"]}[shown["topic"]]
    assert (topic["due"], topic["unfinished"]) == (0, 1)
    assert "1 unfinished" in drill("stats").out


def test_export_and_import_carry_all_progress_to_another_machine(make_drill):
    here, there = make_drill("here"), make_drill("there")
    practise(here)
    assert here("export", "all.json").code == 0
    text = (here.work / "all.json").read_text()
    for _ in range(2):
        assert there("import", "-", stdin=text).code == 0
    assert there("stats", "--json").json == here("stats", "--json").json
    ours, theirs = json.loads(here("export").out), json.loads(there("export").out)
    for table in ("attempts", "reviews", "events"):
        assert ours[table] == theirs[table]
    assert there("list", "--json").json == here("list", "--json").json


def test_reset_gives_a_fresh_schedule_and_keeps_the_attempts(drill: Drill):
    practise(drill)
    assert drill("reset", "kv-cache-size").code == 0
    row = next(
        row for row in drill("list", "--json").json["questions"] if row["id"] == "kv-cache-size"
    )
    assert (row["status"], row["due"], row["attempts"]) == ("new", None, 3)


def test_doctor_is_pasteable_and_honest(drill: Drill):
    ran = drill("doctor", "--quick")
    assert ran.code == 0, ran.out
    for word in ("torch", "Python", "SQLite", "integrity ok", " of 3: "):
        assert word in ran.out
    assert "limits: 10 s (60 s for a kernel)," in " ".join(ran.out.split())
    found = drill("doctor", "--quick", "--json").json
    assert found["usable"]
    assert found["database"]["integrity"] == "ok"
    assert found["bank"]["questions"] == len(drill("list", "--json").json["questions"])


def test_doctor_imports_no_torch(drill: Drill):
    ran = drill("doctor", "--quick", PYTHONPROFILEIMPORTTIME="1")
    assert "torch" not in ran.err.replace("torchgen", "")


@pytest.mark.parametrize("kind", KINDS)
def test_a_new_question_file_has_a_valid_form(drill: Drill, kind: str, tmp_path: Path):
    from questions.loader import load_file

    ran = drill("bank", "new", f"my-{kind}", "--kind", kind, "--bank", str(tmp_path))
    assert ran.code == 0, ran.err
    path = tmp_path / "attention" / f"my-{kind}.yaml"
    question = load_file(path)
    assert (question.id, question.kind) == (f"my-{kind}", kind)
    again = drill("bank", "new", f"my-{kind}", "--kind", kind, "--bank", str(tmp_path))
    assert again.code == 2
    assert drill("bank", "new", "No Name", "--kind", kind).code == 2


def test_the_schema_is_json_and_knows_every_kind(drill: Drill):
    ran = drill("bank", "schema")
    assert ran.code == 0
    assert json.loads(ran.out)["$schema"]
    assert all(f'"{kind}"' in ran.out for kind in KINDS)


def test_an_export_from_a_home_that_cannot_be_is_no_empty_success(drill: Drill, tmp_path: Path):
    occupied = tmp_path / "a file"
    occupied.write_text("")
    ran = drill("export", DRILL_HOME=str(occupied))
    assert (ran.code, ran.out) == (4, "")
    assert "nothing to export" in ran.err
