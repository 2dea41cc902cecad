"""`drill mock` as a command: scripts, resuming, listing, the page, and what goes wrong."""

from __future__ import annotations

import json

import candidates
import pages
import pytest
from conftest import Drill

from drills import clock
from drills.store import Event, Store, new_uuid
from questions import index

pytest.importorskip("pty")

from terminal import Terminal

BANK = index.load().questions


def test_a_script_by_question_holds_the_interview_and_leaves_a_page(drill: Drill):
    answers = {
        i: candidates.right(q, 1)
        for i, q in BANK.items()
        if q["kind"] in ("explain", "derive", "choice", "trace")
    }
    (drill.work / "answers.json").write_text(json.dumps(answers))
    ran = drill("mock", "--seed", "5", "--answers", "answers.json", "--json")
    assert ran.code == 0, ran.err
    found = ran.json
    assert (found["format"], found["seed"], found["ended"]) == (1, 5, "every round was held")
    outcomes = {a["question"]: a["outcome"] for a in found["answers"]}
    assert all(outcomes[i] == ("passed" if i in answers else "skipped") for i in outcomes)
    page = (drill.work / found["page"].rpartition("/")[2]).read_text()
    pages.check(page)
    assert found["conclusion"]["said"] in page
    again = drill("mock", "--debrief", found["id"][:4], "--json").json
    assert {**again, "page": found["page"]} == found
    listed = drill("mock", "--list", "--json").json["interviews"]
    assert [one["id"] for one in listed] == [found["id"]]
    assert "Again  drill mock --debrief" in drill("mock", "--debrief").out
    assert drill("stats", "--json").code == 0


def test_lines_on_standard_input_are_answers_and_their_end_ends_the_interview(drill: Drill):
    ran = drill("mock", "--seed", "5", "--answers", "-", stdin="no idea\n\nskip\n")
    assert ran.code == 0, ran.err
    assert "it was ended early" in ran.out
    events = [e.name for e in Store(drill.home, print).events() if e.question.startswith("mock/")]
    assert events.count("tried") == 1
    assert events[-1] == "debriefed"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--minutes", "14"), "14 is not in the range"),
        (("--role", "manager"), "'manager' is not one of"),
        (("--answers", "nowhere.txt"), "nowhere.txt cannot be read"),
        (("--answers", "list.json"), "holds no object of answers"),
        (("--answers", "broken.json"), "is no JSON"),
        (("--answers", "typo.json"), "kv-cache-sise"),
        (("--answers", "number.json"), "the answer to kv-cache-size is no text"),
        (("--resume",), "There is no unfinished interview"),
        (("--debrief", "zz"), 'There is no finished interview "zz"'),
    ],
)
def test_what_cannot_be_is_said_in_a_sentence(drill: Drill, arguments: tuple[str, ...], words: str):
    (drill.work / "list.json").write_text("[1]")
    (drill.work / "broken.json").write_text("{")
    (drill.work / "typo.json").write_text('{"kv-cache-sise": "1 GB"}')
    (drill.work / "number.json").write_text('{"kv-cache-size": ["1 GB", 5]}')
    ran = drill("mock", *arguments)
    assert ran.code == 2
    assert words in ran.err
    assert "Traceback" not in ran.err
    assert Store(drill.home, print).events() == []  # nothing that waits to be gone on with


def test_no_page_is_written_over_a_file_of_the_learners(drill: Drill):
    (drill.work / "mine.html").write_text("mine")
    ran = drill("mock", "--answers", "-", "--out", "mine.html", stdin="end\n")
    assert ran.code == 2
    assert (drill.work / "mine.html").read_text() == "mine"
    assert drill("mock", "--list", "--json").json["interviews"] == []  # said before it began
    assert drill("mock", "--answers", "-", "--out", "mine.html", "--force", stdin="end\n").code == 0


def test_an_interview_that_is_open_in_one_terminal_is_not_held_in_another(drill: Drill):
    terminal = Terminal(drill, "mock", "--seed", "5")
    terminal.shows("left · 1. warm-up")
    there = drill("mock", "--list", "--json").json["interviews"][0]["id"]
    for wanted in (("--resume",), ("--resume", there)):
        ran = drill("mock", *wanted, "--answers", "-", stdin="end\n")
        assert (ran.code, ran.out) == (2, "")
        assert f"The interview {there} is open in another terminal" in ran.err
    terminal.type("", end="\x03")
    assert terminal.ends() == 130
    assert drill("mock", "--resume", "--answers", "-", stdin="end\n").code == 0


def test_a_page_that_cannot_be_written_does_not_cost_the_debrief(drill: Drill):
    (drill.home / "file").write_text("no folder")
    ran = drill("mock", "--answers", "-", stdin="end\n", DRILL_WORKSPACE=str(drill.home / "file"))
    assert ran.code == 0
    assert "A loop would likely say" in ran.out
    assert "cannot be written" in ran.err
    assert "--out FILE" in ran.err
    new = drill.work / "not" / "there"
    assert drill("mock", "--answers", "-", stdin="end\n", DRILL_WORKSPACE=str(new)).code == 0
    assert len(list(new.glob("drill-mock-*.html"))) == 1


# at a terminal --------------------------------------------------------------------------------


def test_the_clock_runs_over_the_line_that_is_typed_and_leaving_keeps_the_interview(drill: Drill):
    terminal = Terminal(drill, "mock", "--seed", "5", "--minutes", "15")
    terminal.shows("\n 15:00 left · 1. warm-up")
    terminal.type("half a thou", end="")
    terminal.shows("\n 14:5")  # it is drawn again while nothing more is typed
    assert "> half a thou" in terminal.shows("\n 14:56 left")
    terminal.type("", end="\x15")  # Ctrl-U
    terminal.type("hint")
    terminal.shows("Hint, at a price")
    terminal.type("pause")
    terminal.shows("left, stopped")
    terminal.type("")
    terminal.type("quit")
    terminal.shows("The interview waits")
    assert terminal.ends() == 0
    back = Terminal(drill, "mock")
    back.shows("Go on with it?")
    back.type("y")
    back.shows("Hints so far: 1.")
    back.shows("left · 1. warm-up")
    back.type("", end="\x03")
    assert back.ends() == 130
    assert "drill mock --resume" in back.seen
    assert drill("mock", "--resume", "--answers", "-", stdin="end\n").code == 0


def test_keys_are_shown_and_kept_while_code_is_graded(drill: Drill):
    """The grade is still under way, by its own word, when what is typed stands on the screen."""
    slow = "import time\ndef causal_mha(*a):\n    time.sleep(0.7)\n    raise ValueError('slept')\n"
    (drill.work / "slow.py").write_text(slow)
    terminal = Terminal(drill, "mock", "--seed", "5")
    for _ in range(12):
        if "run · edit · done" in terminal.until("hint · skip"):
            break
        terminal.type("skip")
    terminal.shows("code, par")
    terminal.type("run slow.py")
    terminal.shows("one moment")
    terminal.type("typed meanwhile", end="")
    during = terminal.shows("typed meanwhile")
    assert "one moment" in during
    assert "slept" not in during
    terminal.type("", end="\r")  # not yet: it stays on the line
    assert "> typed meanwhile" in terminal.shows("slept") or terminal.shows("> typed meanwhile")
    terminal.type("", end="\x15")
    terminal.type("quit")
    terminal.shows("The interview waits")
    assert terminal.ends() == 0


def test_a_terminal_that_can_do_no_more_than_lines_shows_the_clock_before_each(drill: Drill):
    terminal = Terminal(drill, "mock", "--seed", "5", TERM="dumb")
    terminal.until("45:00 > ")
    terminal.type("time")
    terminal.until(" > ")
    terminal.type("end")
    terminal.until("A loop would likely say")
    assert terminal.ends() == 0
    assert "\x1b" not in terminal.seen


def test_an_interview_that_this_drill_cannot_read_is_passed_over(drill: Drill):
    store = Store(drill.home, print)
    for number, detail in enumerate(({}, {"role": "chief", "minutes": 45}, {"role": 3})):
        store.record_event(Event(new_uuid(), f"mock/{number}", "began", clock.now(), 1, detail))
    store.close()
    assert drill("mock", "--list", "--json").json["interviews"] == []
    assert drill("mock", "--resume").code == 2
    assert drill("mock", "--answers", "-", stdin="end\n").code == 0


def test_an_interview_that_was_cut_off_before_its_debrief_is_gone_on_with_to_it(drill: Drill):
    store = Store(drill.home, print)
    facts = {"role": "inference", "minutes": 45, "used": 0.0}
    for name, detail in (("began", facts), ("ended", {"why": "the time was over", "used": 2700.0})):
        store.record_event(Event(new_uuid(), "mock/ab12", name, clock.now(), 1, detail))
    store.close()
    ran = drill("mock", "--resume", "--answers", "-")
    assert ran.code == 0, ran.err
    assert "A loop would likely say" in ran.out
    assert drill("mock", "--resume").code == 2
