from __future__ import annotations

from datetime import timedelta

from conftest import Drill, right_answer

from drills import clock
from drills.store import Store


def serve(drill: Drill, *more: str) -> dict:
    ran = drill("next", "--json", *more)
    assert ran.code == 0, ran.err
    return ran.json


def test_help_fits_a_terminal_of_80_by_24(drill: Drill):
    ran = drill("--help")
    assert ran.code == 0
    lines = ran.out.splitlines()
    assert len(lines) <= 23
    assert max(map(len, lines)) <= 80


def test_drill_alone_and_dash_h_show_the_same_help(drill: Drill):
    for arguments in ((), ("-h",)):
        ran = drill(*arguments)
        assert (ran.code, ran.err) == (0, "")
        assert ran.out == drill("--help").out
    assert "--seed" in drill("grade", "-h").out


def test_every_command_explains_itself(drill: Drill):
    from drills.cli import VERBS

    for verb in VERBS:
        ran = drill(verb, "--help")
        assert ran.code == 0, verb
        assert "Usage: drill" in ran.out


def test_next_prints_the_problem_and_ends_with_what_to_type(drill: Drill):
    ran = drill("next", "--kind", "compute")
    assert ran.code == 0
    assert "compute · level" in ran.out
    assert "drill answer" in ran.out.rstrip().splitlines()[-1]
    assert max(map(len, ran.out.splitlines())) <= 80
    assert "\x1b" not in ran.out


def test_colour_follows_force_color_and_no_color(drill: Drill):
    assert "\x1b[" in drill("next", FORCE_COLOR="1").out
    no_color = drill("next", FORCE_COLOR="1", NO_COLOR="1").out
    assert "\x1b[3" not in no_color
    assert "36m" not in no_color
    assert "\x1b" not in drill("next", TERM="dumb").out


def test_the_unfinished_problem_is_served_again_with_the_same_numbers(drill: Drill):
    first = serve(drill, "--kind", "compute")
    again = serve(drill, "--kind", "compute")
    assert (first["reason"], again["reason"]) == ("new", "unfinished")
    assert again["id"] == first["id"]
    assert again["parameters"] == first["parameters"]


def test_new_problems_come_only_after_what_they_follow(drill: Drill):
    order = [row["id"] for row in drill("list", "--json").json["questions"]]
    first = serve(drill)
    assert first["id"] == order[0]
    assert drill("skip", first["id"]).code == 0
    seen = []
    for _ in range(6):
        shown = serve(drill)
        waits = [i for i in shown["follows"] if i in order]
        assert bool(waits) == ("not passed yet" in shown["note"])
        seen.append(shown["id"])
        assert drill("skip", shown["id"]).code == 0
    assert len(set(seen)) == 6


def test_a_passed_problem_is_gone_until_it_is_due_and_then_comes_first(drill: Drill):
    shown = serve(drill, "--kind", "compute")
    ran = drill("answer", shown["id"], right_answer(shown))
    assert ran.code == 0, ran.out
    other = serve(drill, "--kind", "compute")["id"]
    assert other != shown["id"]
    assert drill("skip", other).code == 0
    rows = {row["id"]: row for row in drill("list", "--json").json["questions"]}
    assert rows[shown["id"]]["status"] == "learned"
    due = clock.from_text(rows[shown["id"]]["due"])
    assert timedelta(days=1) <= due - clock.now() <= timedelta(days=30)
    later = _days_later(drill, 40)
    again = serve(later)
    assert (again["id"], again["reason"]) == (shown["id"], "due")
    assert again["seed"] != shown["seed"]
    assert "due again" in again["note"]


def _days_later(drill: Drill, days: int) -> Drill:
    """A home whose facts lie `days` further back, as they will."""
    import json

    from drills.store.transfer import export_text, read_export

    old = Store(drill.home, print)
    document = json.loads(export_text(old))
    old.close()
    for table in ("attempts", "reviews", "events"):
        for row in document[table]:
            moved = clock.from_text(row["at"]) - timedelta(days=days)
            row["at"] = clock.to_text(moved)
    home = drill.home.parent / "later"
    (home / "cache").parent.mkdir()
    new = Store(home, print)
    new.merge(read_export(json.dumps(document).encode(), "x"))
    new.close()
    return Drill(home, drill.work, {**drill.env, "DRILL_HOME": str(home)})


def test_when_all_is_put_off_next_says_when_and_exits_5(drill: Drill):
    topic = drill("list", "--json").json["questions"][0]["topic"]
    for row in drill("list", "--topic", topic, "--json").json["questions"]:
        assert drill("skip", row["id"]).code == 0
    ran = drill("next", "--topic", topic)
    assert ran.code == 5
    assert ran.out == ""
    assert "Nothing is due" in ran.err
    assert "tomorrow" in ran.err or "in 2" in ran.err


def test_a_filter_that_fits_nothing_is_a_usage_error(drill: Drill):
    ran = drill("next", "--topic", "no-such-topic")
    assert ran.code == 2
    assert "drill list" in ran.err


def test_show_gives_the_parameters_of_a_seed_and_only_what_may_be_known(drill: Drill):
    first = drill("show", "kv-cache-size", "--seed", "5", "--json").json
    again = drill("show", "kv-cache-size", "--seed", "5", "--json").json
    assert first == again
    assert first["seed"] == 5
    assert set(first["parameters"]) >= {"layers", "n_kv_heads", "head_dim", "tokens", "batch"}
    assert [set(part) for part in first["parts"]] == [{"id", "asks"}]
    assert f"{first['parameters']['tokens']:,}" in first["prompt"]
    assert not {"explanation", "formula", "working"} & set(first)


def test_list_filters_and_counts(drill: Drill):
    everything = drill("list", "--json").json["questions"]
    compute = drill("list", "--kind", "compute", "--json").json["questions"]
    assert {row["kind"] for row in compute} == {"compute"}
    assert len(compute) < len(everything)
    table = drill("list").out
    assert all(row["id"] in table for row in everything)
    assert max(map(len, table.splitlines())) <= 80
    assert "drill next" in table.rstrip().splitlines()[-1]


def test_a_starter_is_written_once_and_never_over_ones_work(drill: Drill):
    assert drill("start", "attention").code == 0
    path = drill.work / "attention.py"
    starter = path.read_text()
    assert "def attention" in starter
    path.write_text("mine = 1\n")
    assert drill("start", "attention").code == 0
    assert drill("next", "--topic", "attention", "--kind", "code").code == 0
    assert path.read_text() == "mine = 1\n"
    assert drill("start", "attention", "--force").code == 0
    assert path.read_text() == starter
    assert (drill.work / "attention.py.bak-1").read_text() == "mine = 1\n"
    path.write_text("mine = 2\n")
    assert drill("reset", "attention").code == 0
    assert path.read_text() == starter
    assert (drill.work / "attention.py.bak-2").read_text() == "mine = 2\n"


def test_a_checkout_of_drill_keeps_its_root_clean(drill: Drill):
    (drill.work / "drills").mkdir()
    (drill.work / "drills" / "workspace.py").touch()
    assert drill("start", "attention").code == 0
    assert (drill.work / "workspace" / "attention.py").is_file()
    assert not (drill.work / "attention.py").exists()


def test_the_workspace_can_be_named(drill: Drill, tmp_path):
    ran = drill("start", "attention", DRILL_WORKSPACE=str(tmp_path / "elsewhere"))
    assert ran.code == 0
    assert (tmp_path / "elsewhere" / "attention.py").is_file()


def test_completion_offers_ids(drill: Drill):
    ran = drill("", _DRILL_COMPLETE="bash_complete", COMP_WORDS="drill show kv-", COMP_CWORD="2")
    assert "kv-cache-size" in ran.out
    assert "rope" not in ran.out
