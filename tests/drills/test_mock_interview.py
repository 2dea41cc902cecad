"""Whole interviews in this process: real bank, real database, real grader, a clock that we turn."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import candidates
import pytest

from drills import choose
from drills.app import App
from drills.mock import debrief as debriefs
from drills.mock import roles, state
from drills.mock.debrief import Debrief
from drills.mock.desk import Desk
from drills.mock.history import finished
from drills.mock.hold import _in_person
from drills.mock.interviewer import Interviewer
from drills.mock.page import render
from drills.mock.record import Record
from drills.mock.state import Item, State
from drills.mock.timer import Timer
from drills.mock.typists import Interviewee, Left
from drills.screen.debrief import print_left
from drills.store.database import in_memory
from grader.answers.beside import Beside
from grader.session import Grader

Plan = Callable[[Item], bool | str]


class Candidate(Interviewee):
    """Answers each question as `rightly` says: True, False, or the lines to type. Every answer
    takes `pace` times its par."""

    interactive = False

    def __init__(self, app: App, rightly: Plan, pace: float = 0.8) -> None:
        super().__init__()
        self.questions = app.index.questions
        self.rightly = rightly
        self.pace = pace
        self.now = 0.0
        self.lines: list[str] = []
        self.heard: list[Item] = []

    def asking(self, item: Item, kind: str) -> None:
        super().asking(item, kind)
        self.heard.append(item)
        self.now += item.par * self.pace
        plan = self.rightly(item)
        if isinstance(plan, str):
            self.lines = plan.split("\n")
            return
        question = self.questions[item.question]
        given = candidates.right(question, item.seed) if plan else candidates.wrong(question)
        if isinstance(given, dict):
            self.lines = [f"run {given['file']}", "done"] if "file" in given else ["skip"]
        else:
            self.lines = [*given.split("\n"), *([""] if kind == "explain" else [])]

    def _input(self, prompt: str) -> str:
        return self.lines.pop(0) if self.lines else "skip"


@pytest.fixture(scope="module")
def grader() -> Iterator[Grader]:
    with Grader() as warm:
        yield warm


@pytest.fixture
def app(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, warm_cache: Path) -> Iterator[App]:
    monkeypatch.setenv("DRILL_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("DRILL_WORKSPACE", str(tmp_path / "work"))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "cache").symlink_to(warm_cache)
    made = App()
    yield made
    made.close()


def begin(app: App, role: str = "inference", minutes: int = 45, seed: int = 3) -> Record:
    record = Record(app, f"{seed:04x}")
    record.began(role, minutes, seed)
    return record


def sit(app: App, grader: Grader, record: Record, candidate: Candidate) -> tuple[bool, State]:
    now = record.state()
    candidate.now += now.used
    timer = Timer(now.minutes * 60.0, now.used, None, lambda: candidate.now)
    with Beside() as judge:
        over = Interviewer(app, record, timer, candidate, grader, judge).hold()
    return over, record.state()


def told(app: App, now: State) -> Debrief:
    found = debriefs.debrief(app, now)
    debriefs.remember(app, found)
    return debriefs.debrief(app, now)


def test_a_candidate_who_is_right_throughout_is_a_strong_hire_with_evidence(
    app: App, grader: Grader
):
    over, now = sit(app, grader, begin(app), Candidate(app, lambda item: True, 0.9))
    assert over
    assert {item.outcome for item in now.items} == {state.PASSED}
    found = told(app, now)
    assert found.conclusion.said == "strong hire", found.scores
    assert {s.competency for s in found.scores if s.score is not None} == set(roles.COMPETENCIES)
    assert all(s.evidence for s in found.scores)
    assert found.mistakes == []
    assert not [one for one in found.next if not one.lab]
    attempts = app.store.attempts()
    assert len(attempts) == len(now.items)
    assert {a.verdict for a in attempts} == {"passed"}
    assert [one.conclusion for one in finished(app)] == ["strong hire"]


def test_what_was_missed_is_named_explained_probed_and_due_tomorrow(app: App, grader: Grader):
    missed = {"causal-mha": "softmax-over-queries"}

    def rightly(item: Item) -> bool | str:
        if item.question in missed:
            file = candidates.TESTS / "wrong" / item.question / f"{missed[item.question]}.py"
            return f"run {file}\ndone"
        return True

    _, now = sit(app, grader, begin(app), Candidate(app, rightly))
    code = next(item for item in now.items if item.question == "causal-mha")
    assert code.outcome == state.MISSED
    probe = now.item(code.number + 1)
    assert (probe.question, probe.after) == ("choice-softmax-axis", code.number)
    found = told(app, now)
    assert [title for _, title, _ in found.mistakes] == [
        app.index.mistakes["softmax-over-queries"]["title"]
    ]
    assert found.next[0].what == "causal-mha"
    assert found.next[0].when == "tomorrow"
    assert app.store.reviews("causal-mha")[-1].reason == "missed in a mock interview"
    assert "causal-mha: missed" in " ".join(
        next(s for s in found.scores if s.competency == roles.CORRECTNESS).evidence
    )
    page = render(found)
    assert app.index.mistakes["softmax-over-queries"]["title"] in page


def test_the_code_grows_in_the_candidates_own_file_from_mha_to_tiles(app: App, grader: Grader):
    def rightly(item: Item) -> bool | str:
        if item.question == "fused-attention":  # a kernel: as far as this goes
            return "end"
        if item.round != "code" or not item.file:
            return "skip"
        code = Path(candidates.right(app.index.questions[item.question], 0)["file"]).read_text()
        file = Path(item.file)
        file.write_text(code if item.after is None else file.read_text() + "\n\n" + code)
        return "run"

    record = begin(app, minutes=90)
    _, now = sit(app, grader, record, Candidate(app, rightly, 0.6))
    code = [item for item in now.items if item.round == "code" and item.file]
    assert [(item.question, item.outcome) for item in code] == [
        ("causal-mha", state.PASSED),
        ("gqa", state.PASSED),
        ("cached-gqa", state.PASSED),
        ("flash-attention", state.PASSED),
        ("fused-attention", state.OUT_OF_TIME),
    ]
    assert {item.file for item in code} == {
        str(Path("work", f"mock-{record.id}", "causal_mha.py").absolute())
    }
    whole = Path(code[0].file).read_text()
    assert all(app.index.questions[i.question]["entry"] + "(" in whole for i in code[:4])


def test_a_hint_costs_and_after_a_run_it_names_the_mistake(
    app: App, grader: Grader, capsys: pytest.CaptureFixture[str]
):
    wrong = candidates.TESTS / "wrong" / "causal-mha" / "softmax-over-queries.py"
    right = candidates.right(app.index.questions["causal-mha"], 0)["file"]

    def rightly(item: Item) -> bool | str:
        if item.question == "causal-mha":
            return f"hint\nrun {wrong}\nhint\nrun {right}"
        return "end" if item.question == "gqa" else "skip"

    _, now = sit(app, grader, begin(app), Candidate(app, rightly, 0.3))
    code = next(item for item in now.items if item.question == "causal-mha")
    assert (code.outcome, code.hints, len(code.tries)) == (state.PASSED, 2, 2)
    title = app.index.mistakes["softmax-over-queries"]["title"]
    before, _, after = capsys.readouterr().out.rpartition("Hint, at a price")
    assert title not in before
    assert title in " ".join(after.split())
    score = next(s for s in told(app, now).scores if s.competency == roles.CORRECTNESS)
    assert score.score == 3  # two hints and a failed run: 0.6


def test_the_time_ends_the_interview_after_the_answer_that_was_being_given(
    app: App, grader: Grader
):
    _, now = sit(app, grader, begin(app, minutes=15), Candidate(app, lambda item: True, 4.0))
    assert now.ended == "the time was over"
    assert now.used > 15 * 60
    assert {item.outcome for item in now.items} == {state.PASSED}
    pace = next(s for s in told(app, now).scores if s.competency == roles.PACE)
    assert pace.score == 1


def test_who_leaves_goes_on_with_the_same_question_and_the_same_clock(app: App, grader: Grader):
    record = begin(app)
    over, left = sit(
        app, grader, record, Candidate(app, lambda item: True if item.number < 3 else "quit")
    )
    assert not over
    assert left.open is not None
    assert left.open.number == 3
    second = Candidate(app, lambda item: "skip", 0.0)
    over, now = sit(app, grader, record, second)
    assert over
    assert second.heard[0].question == left.open.question
    assert second.heard[0].seed == left.open.seed
    assert now.items[:2] == left.items[:2]
    assert now.used == left.used


def test_what_was_typed_of_an_answer_outlives_a_command_and_the_terminal(app: App, grader: Grader):
    """A line of prose may begin with a command's word; "time" among the lines takes none away."""
    prose = "Run over it once: d_k is\ntime\nthe variance of the score"

    def rightly(item: Item, sitting: int) -> str:
        if item.number == 1:
            return f"{prose}\nquit" if sitting == 1 else "and its root scales.\n"
        if item.number == 2:
            steps = candidates.right(app.index.questions[item.question], item.seed).split("\n")
            return "\n".join([*steps[:2], "quit"] if sitting == 2 else steps[2:])
        return "end"

    record = begin(app, "training", 30, 11)
    for sitting in (1, 2, 3):
        candidate = Candidate(app, lambda item, number=sitting: rightly(item, number), 0.1)
        candidate.interactive = True
        sit(app, grader, record, candidate)
    now = record.state()
    explained, derived = now.items[:2]
    assert [app.index.questions[i.question]["kind"] for i in (explained, derived)] == [
        "explain", "derive",
    ]  # fmt: skip
    kept = app.store.attempt(explained.tries[0].attempt)
    assert kept is not None
    assert kept[1].split("\n") == [
        "Run over it once: d_k is", "the variance of the score", "and its root scales.",
    ]  # fmt: skip
    assert derived.outcome == state.PASSED


def test_a_file_that_was_deleted_comes_back_as_it_was_graded_last(
    app: App, grader: Grader, capsys: pytest.CaptureFixture[str]
):
    wrong = candidates.TESTS / "wrong" / "causal-mha" / "softmax-over-queries.py"

    def rightly(item: Item) -> str:
        if item.question != "causal-mha":
            return "skip"
        Path(item.file).unlink()
        return "run\nend" if item.tries else f"run {wrong}\nquit"

    record = begin(app)
    sit(app, grader, record, Candidate(app, rightly, 0.1))
    _, now = sit(app, grader, record, Candidate(app, rightly, 0.1))
    code = next(item for item in now.items if item.question == "causal-mha")
    assert Path(code.file).read_text() == wrong.read_text()
    assert len(code.tries) == 2
    said = capsys.readouterr()
    assert "was gone: it is back, as it was graded last" in " ".join(said.out.split())
    print_left(now)
    assert "its debrief waits" in capsys.readouterr().err


def test_a_pass_that_was_cut_off_before_its_question_was_closed_is_not_asked_for_again(
    app: App, grader: Grader, monkeypatch: pytest.MonkeyPatch
):
    file = candidates.right(app.index.questions["causal-mha"], 0)["file"]
    record = begin(app)

    def rightly(item: Item) -> str:
        return f"run {file}" if item.question == "causal-mha" else "skip"

    with monkeypatch.context() as cut:
        cut.setattr(Interviewer, "_close", lambda *_: (_ for _ in ()).throw(Left))
        sit(app, grader, record, Candidate(app, rightly, 0.1))
    left = record.state().open
    assert left is not None
    assert len(left.tries) == 1
    _, now = sit(app, grader, record, Candidate(app, lambda item: "end", 0.1))
    assert now.item(left.number).outcome == state.PASSED


class AtDesk(Desk):
    """Says "end" in a thread of its own, as the desk has it."""

    def _input(self, prompt: str) -> str:
        return "end"

    def converse(self, work: Callable[[], None]) -> None:
        interviewer = threading.Thread(target=work)
        interviewer.start()
        interviewer.join()


def test_a_disk_that_is_full_leaves_the_debrief_what_was_said(app: App, grader: Grader):
    """What cannot be written is kept in memory, which the interviewer's thread hands back."""
    app.store._opened = in_memory(None, "the disk is full")
    record = begin(app)
    timer = Timer(45 * 60.0)
    with Beside() as judge:
        assert _in_person(Interviewer(app, record, timer, AtDesk(timer), grader, judge))
    assert record.state().ended == "it was ended early"


def test_a_question_that_the_bank_no_longer_has_counts_for_nothing(app: App, grader: Grader):
    record = begin(app)
    _, left = sit(app, grader, record, Candidate(app, lambda item: "quit", 0.0))
    assert left.open is not None
    gone = left.open.question
    asked = app.index.questions.pop(gone)
    try:
        _, now = sit(app, grader, record, Candidate(app, lambda item: "end", 0.0))
        scores = debriefs.debrief(app, now).scores
    finally:
        app.index.questions[gone] = asked
    assert len(now.items) > 1
    assert {one.score for one in scores} == {None}


def test_what_is_new_and_advised_is_served_next(app: App, grader: Grader):
    """A skipped question is due tomorrow; what it builds on is served today."""
    record = begin(app, "kernel")
    _, now = sit(app, grader, record, Candidate(app, lambda item: "skip", 0.0))
    found = told(app, now)
    new = [one.what for one in found.next if one.when == "new"]
    assert new
    choice = choose.choose(app)
    assert choice.note == "advised after your mock interview"
    assert choice.question["id"] in new


def test_what_was_advised_goes_before_what_the_path_has_next(app: App):
    usual = choose.choose(app).question["id"]
    found = app.index.questions
    other = [i for i in app.index.order if not found[i]["follows"] and i != usual][-1]
    app.note(other, "advised", detail={"by": "x"})
    choice = choose.choose(app)
    assert (choice.question["id"], choice.note) == (other, "advised after your mock interview")


def test_a_pause_stops_the_clock_and_an_unreadable_answer_is_asked_for_again(
    app: App, grader: Grader
):
    given = {"derive": "pause\n)(\n0\n0\n0\n0\n0"}

    def rightly(item: Item) -> bool | str:
        return given.get(app.index.questions[item.question]["kind"], "skip")

    _, now = sit(app, grader, begin(app), Candidate(app, rightly, 0.1))
    assert [name for _, name in now.log][:2] == [state.PAUSED, state.RESUMED]
    derived = [i for i in now.items if app.index.questions[i.question]["kind"] == "derive"]
    assert derived[0].outcome == state.MISSED
    assert len(derived[0].tries) == 1


def test_a_debrief_is_the_same_however_often_it_is_made(app: App, grader: Grader):
    chance = {n: n % 3 != 0 for n in range(40)}
    _, now = sit(app, grader, begin(app, seed=9), Candidate(app, lambda item: chance[item.number]))
    first, second = debriefs.debrief(app, now), debriefs.debrief(app, now)
    assert debriefs.as_json(first) == debriefs.as_json(second)
    assert debriefs.as_json(first)["format"] == 1
