"""`drill plan`: the laws of its plans, then the command."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta, timezone

import pytest
from conftest import BANK, Drill
from facts import attempt, report
from hypothesis import given, settings
from hypothesis import strategies as st
from test_thin_imports import HEAVY, imported

from drills import clock, memory, plan, schedule
from drills.memory import Memory
from drills.plan import Frame, Item
from drills.store import Event, Review, Store, new_uuid
from questions import index

# the memory -------------------------------------------------------------------------------


def test_the_memory_is_that_of_the_schedule():
    start = datetime(2026, 1, 5, 9, tzinfo=timezone.utc)
    after = [start + timedelta(days=day) for day in (0, 2, 11)]
    reviews = [Review(new_uuid(), "rope", at, schedule.GOOD, "passed") for at in after]
    card, _ = schedule.replay("rope", reviews)
    found = memory.passed(memory.passed(memory.passed(None, 0), 2), 11)
    assert start + timedelta(days=found.due) == card.due
    assert memory.recall(found, 11) == 1.0
    assert memory.recall(found, found.due) == pytest.approx(0.9, abs=0.01)


# the laws ---------------------------------------------------------------------------------


@st.composite
def memories(draw: st.DrawFn) -> Memory:
    day = draw(st.integers(-90, 0))
    stability = draw(st.sampled_from([0.5, 2.3, 9.0, 40.0]))
    return Memory(stability, draw(st.sampled_from([3.0, 7.0])), day, day + max(1, round(stability)))


@st.composite
def banks(draw: st.DrawFn) -> list[Item]:
    items: list[Item] = []
    for number in range(draw(st.integers(0, 14))):
        before = [item.id for item in items]
        minutes = draw(st.integers(1, 90))
        items.append(
            Item(
                id=f"q{number}",
                minutes=minutes,
                review=draw(st.integers(1, minutes)),
                worth=draw(st.sampled_from([0.25, 0.5, 1.0, 2.0])),
                follows=tuple(
                    draw(st.lists(st.sampled_from(before), max_size=2)) if before else ()
                ),
                memory=draw(st.none() | memories()),
                passed=draw(st.booleans()),
            )
        )
    return items


@st.composite
def frames(draw: st.DrawFn) -> Frame:
    days = draw(st.integers(1, 40))
    return Frame(
        days=days,
        into=draw(st.integers(0, 6)),
        spent=draw(st.sampled_from([0.0, 30.0, 400.0])),
        done=draw(st.sampled_from([0.0, 20.0])),
        calm=plan.calm_days(days),
        mock=draw(st.booleans()),
    )


hours = st.integers(1, 60).map(lambda n: n * plan.STEP)
laws = settings(max_examples=40, deadline=None)


@laws
@given(banks(), frames(), hours)
def test_no_week_takes_more_than_its_hours_and_nothing_comes_on_the_date_or_after(b, frame, n):
    weeks = {0: frame.spent + frame.done}
    for task in plan.make(b, frame, n).tasks:
        assert 0 <= task.day < frame.days
        weeks[frame.week(task.day)] = weeks.get(frame.week(task.day), 0) + task.minutes
    assert all(minutes <= n * 60 for week, minutes in weeks.items() if week)
    assert weeks[0] <= max(n * 60, frame.spent + frame.done)


@laws
@given(banks(), frames(), hours)
def test_nothing_new_comes_before_what_it_builds_on_or_in_the_last_days(b, frame, n):
    by_id = {item.id: item for item in b}
    known = {item.id for item in b if item.passed}
    for task in plan.make(b, frame, n).tasks:
        if task.kind == "new":
            assert by_id[task.question].memory is None
            assert set(by_id[task.question].follows) <= known | {""}
            assert task.day < frame.days - frame.calm
        known.add(task.question)


@laws
@given(banks(), frames(), hours, hours)
def test_more_hours_never_lower_the_recall_or_the_number_of_what_is_new(b, frame, one, other):
    less, more = sorted((one, other))
    before, after = plan.make(b, frame, less), plan.make(b, frame, more)
    assert after.recall >= before.recall
    assert after.new >= before.new
    assert after.unaided == before.unaided
    assert before.recall >= before.unaided


@laws
@given(banks(), frames(), hours)
def test_a_plan_is_the_same_each_time_and_accounts_for_all_that_is_new(b, frame, n):
    made = plan.make(b, frame, n)
    assert made == plan.make(list(b), replace(frame), n)
    taken = [task.question for task in made.tasks if task.kind == "new"]
    assert sorted([*taken, *made.left_out]) == sorted(item.id for item in b if item.new)
    worths = [item.worth for id_ in made.left_out for item in b if item.id == id_]
    assert worths == sorted(worths)
    days = [(task.question, task.day) for task in made.tasks]
    assert len(set(days)) == len(days)  # one sitting a day and question
    assert sum(task.kind == "mock" for task in made.tasks) <= frame.mock


@laws
@given(banks(), frames(), hours, st.data())
def test_what_was_passed_is_no_longer_new(b, frame, n, data):
    new = [item for item in b if item.new]
    if not new:
        return
    item = data.draw(st.sampled_from(new))
    passed = replace(item, passed=True, memory=memory.passed(None, 0))
    made = plan.make([passed if i is item else i for i in b], frame, n)
    assert item.id not in made.left_out
    assert all(task.kind != "new" for task in made.tasks if task.question == item.id)


@laws
@given(banks(), frames())
def test_the_hours_for_everything_leave_nothing_out(b, frame):
    needed = plan.hours_for_everything(b, frame)
    if needed is not None:
        made = plan.make(b, frame, needed)
        assert made.complete
        assert made.left_out == ()


def test_a_last_review_is_brought_forward_where_recall_on_the_date_would_be_too_low():
    known = Item("a", 10, 10, memory=Memory(9.0, 5.0, 0, 9), passed=True)
    near = plan.make([known], Frame(days=8, calm=2, mock=False), 5)
    assert near.tasks == ()  # over the bar on that day
    made = plan.make([known], Frame(days=12, calm=4, mock=False), 5)
    assert [(task.question, task.day) for task in made.tasks] == [("a", 8)]
    assert made.unaided < plan.BAR <= made.recall


def test_a_role_puts_its_topics_first_and_prerequisites_before_them():
    plain, root, wanted = Item("p", 9, 9, 1.0), Item("r", 9, 9, 0.5), Item("w", 9, 9, 2.0, ("r",))
    assert [item.id for item in plan.path([plain, root, wanted])] == ["r", "w", "p"]


# the command -------------------------------------------------------------------------------


def day(number: int) -> str:
    return (clock.now().astimezone().date() + timedelta(days=number)).isoformat()


def ago(**span: float) -> datetime:
    return clock.now() - timedelta(**span)


def passes(drill: Drill, question: str, at: datetime, seconds: float | None = None) -> None:
    review = Review(new_uuid(), question, at, schedule.GOOD, "passed")
    tried = attempt("passed", at, question)._replace(seconds=seconds)
    store = Store(drill.home, print)
    store.record_attempt(report(question), "", tried, review)
    store.close()


def test_a_plan_is_remembered_followed_and_forgotten(drill: Drill):
    assert drill("plan").code == 2
    made = drill("plan", "--until", day(21), "--hours-per-week", "6", "--json").json
    assert made["format"] == 1
    assert made["until"] == day(21)
    assert made["weeks"]
    assert all(week["minutes"] <= 360 for week in made["weeks"])
    assert made["recall"]["with"] > made["recall"]["without"] == 0
    assert made["hours_for_everything"] > 6
    assert made["left_out"]
    assert drill("plan", "--json").json == made
    first = made["today"]["to_do"][0]
    assert drill("next", "--json").json["id"] == first["question"]
    passes(drill, first["question"], clock.now())
    now = drill("plan", "--json").json
    assert now["today"]["done"] == [first]
    assert first not in now["today"]["to_do"]
    text = drill("plan", COLUMNS="80").out
    assert all(len(line) <= 80 for line in text.splitlines())
    assert f"done    {first['question']}" in text
    assert text.splitlines()[-1] == " Next  drill next"
    changed = drill("plan", "--role", "kernel", "--json").json
    assert (changed["until"], changed["role"]) == (day(21), "kernel")
    kernel = changed["today"]["to_do"][0]["question"]
    assert drill("next", "--json").json["id"] == kernel
    assert drill("plan", "--clear").code == 0
    assert "No plan is on" in drill("plan").err
    assert "No plan was on" in drill("plan", "--clear").err


def test_what_an_interview_advised_comes_first_of_what_is_new_in_a_plans_day(drill: Drill):
    made = drill("plan", "--until", day(21), "--hours-per-week", "6", "--json").json
    first, *others = [task["question"] for task in made["today"]["to_do"]]
    passes(drill, first, clock.now())
    bank = index.load(BANK).questions
    free = [i for i in others if bank[i]["follows"] == [first]]
    waiting = next(i for i in others if free[0] in bank[i]["follows"])
    store = Store(drill.home, print)
    for question in (waiting, free[1]):
        store.record_event(Event(new_uuid(), question, "advised", clock.now(), None, {}))
    store.close()
    served = drill("next", "--json").json
    assert served["id"] == free[1]
    assert served["note"] == "advised after your mock interview"


def test_a_plan_made_before_the_clock_was_set_back_puts_nobody_behind(drill: Drill):
    store = Store(drill.home, print)
    detail = {"until": day(21), "hours": 6, "role": ""}
    tomorrow = ago(hours=-23.9)
    store.record_event(Event(new_uuid(), "plan", "planned", tomorrow, None, detail))
    store.close()
    assert drill("plan", "--json").json["behind_minutes"] == 0


def test_drill_next_brings_back_early_what_the_date_needs(drill: Drill):
    passes(drill, "rope", ago(days=11))
    passes(drill, "rope", ago(days=9))
    store = Store(drill.home, print)
    due = store.cards()["rope"].due
    assert ago(days=-1) < due < ago(days=-4)
    assert drill("next", "--json").json["id"] != "rope"
    assert drill("skip").code == 0
    detail = {"until": day(5), "hours": 10, "role": ""}
    store.record_event(Event(new_uuid(), "plan", "planned", ago(days=15), None, detail))
    store.close()
    found = drill("next", "--json").json
    assert (found["id"], found["reason"]) == ("rope", "due")
    shown = drill("plan", "--json").json
    tasks = [(task["kind"], task["question"]) for one in shown["days"] for task in one["tasks"]]
    assert sorted(tasks, key=str) == [("mock", None), ("review", "rope")]


def test_minutes_are_par_by_the_learners_own_pace_once_it_is_known(drill: Drill):
    par = {
        q["id"]: q["minutes"] for q in drill("list", "--kind", "code", "--json").json["questions"]
    }
    arguments = ("plan", "--until", day(30), "--hours-per-week", "10", "--json")

    def paces() -> set[float]:
        tasks = [task for one in drill(*arguments).json["days"] for task in one["tasks"]]
        new = [t for t in tasks if t["kind"] == "new" and t["question"] in par]
        return {round(task["minutes"] / par[task["question"]], 1) for task in new}

    assert paces() <= {1.5, 1.6, 1.7}  # in whole minutes
    for question in list(par)[:3]:
        passes(drill, question, ago(days=1), par[question] * 120)
    assert paces() == {2.0}


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("--until", "2020-01-01", "--hours-per-week", "5"), "2020-01-01 has passed"),
        (("--until", "TODAY", "--hours-per-week", "5"), "is today"),
        (("--until", "FAR", "--hours-per-week", "5"), "more than a year ahead"),
        (("--until", "soon", "--hours-per-week", "5"), '"soon" is no date'),
        (("--until", "2027-02-30", "--hours-per-week", "5"), "is no date"),
        (("--until", "SOON", "--hours-per-week", "0"), "0.5 to 80"),
        (("--until", "SOON", "--hours-per-week", "200"), "0.5 to 80"),
        (("--until", "SOON", "--hours-per-week", "nan"), "0.5 to 80"),
        (("--until", "SOON", "--hours-per-week", "5.3"), "whole or half"),
        (("--until", "SOON"), "needs its date and its hours"),
    ],
)
def test_a_plan_that_cannot_be_made_is_said_in_one_sentence(drill: Drill, arguments, told):
    names = {"TODAY": day(0), "FAR": day(3650), "SOON": day(9)}
    ran = drill("plan", *(names.get(word, word) for word in arguments))
    assert ran.code == 2
    assert told in ran.err
    assert ran.err.count("\n") == 1
    assert ran.out == ""


def test_a_plan_whose_day_has_come_says_so_and_no_longer_guides(drill: Drill):
    assert drill("plan", "--until", day(1), "--hours-per-week", "5").code == 0
    later = (
        "import datetime, drills.clock as clock\n"
        "now = clock.now\n"
        "clock.now = lambda: now() + datetime.timedelta(days=1)\n"
    )
    (drill.work / "sitecustomize.py").write_text(later)
    ran = drill("plan", PYTHONPATH=f"{drill.work}:{drill.env['PYTHONPATH']}")
    assert ran.code == 2
    assert "is today" in ran.err
    assert drill("next", "--json", PYTHONPATH=f"{drill.work}:{drill.env['PYTHONPATH']}").code == 0


def test_planning_imports_nothing_heavy(drill: Drill):
    assert not imported(drill, "plan", "--until", day(9), "--hours-per-week", "5") & set(HEAVY)
