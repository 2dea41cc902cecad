"""The conversation: one question after the other, each heard, judged, recorded and closed."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from drills import serving, submit, workspace
from drills.app import App
from drills.ask import Said
from drills.errors import DrillError
from drills.in_place import Answering
from drills.mock import plan, roles, state
from drills.mock.record import Record
from drills.mock.state import Item
from drills.mock.timer import Timer
from drills.mock.typists import Interviewee, Left
from drills.schedule import AGAIN, Rated
from drills.screen import interview as screen

if TYPE_CHECKING:
    from grader.answers.beside import Beside
    from grader.report import Report
    from grader.session import Grader

MISSED = Rated(AGAIN, "missed in a mock interview")


class Interviewer:
    """Holds the interview that `record` tells of until its end, or until the person leaves. Code
    goes to `grader`, other answers to `judge`: both are processes of their own."""

    def __init__(
        self,
        app: App,
        record: Record,
        timer: Timer,
        person: Interviewee,
        grader: Grader,
        judge: Beside,
    ) -> None:
        self.app = app
        self.record = record
        self.timer = timer
        self.person = person
        self.grader = grader
        self.judge = judge
        self.bank = app.index.questions

    def hold(self) -> bool:
        """True once the interview is over, False where the person left it to be gone on with."""
        self.timer.go()
        try:
            while (item := self._next()) is not None:
                self._work(item)
        except Left:
            self.timer.stop()
            self.record.paused(self.timer.used)
            return False
        self.timer.stop()
        return True

    def _next(self) -> Item | None:
        """The item that waits for its answer, else a new one; None where it is over."""
        now = self.record.state()
        if now.ended:
            return None
        if now.open is not None:
            return now.open
        if self.timer.left <= 0:
            self.record.ended("the time was over", self.timer.used)
            return None
        step = plan.next_step(now, self.bank, self.timer.used)
        if step is None:
            self.record.ended("every round was held", self.timer.used)
            return None
        question = self.bank[step.question]
        file = ""
        if roles.is_code(question["kind"]):
            file = now.items[-1].file if step.same_file else ""
            file = file or self._starter(question["id"], question["starter"])
        seed = serving.draw_seed_from(f"{now.seed}/{len(now.items)}")
        self.app.note(step.question, "shown", seed)
        self.record.asked(step, question["level"], seed, file, self.timer.used)
        return self.record.state().open

    def _starter(self, question: str, starter: str) -> str:
        """Write the file for the code; one that is there, from before a kill, is kept."""
        folder = workspace.folder() / f"mock-{self.record.id}"
        path = folder / workspace.file_name(question)
        try:
            folder.mkdir(parents=True, exist_ok=True)
            if not path.exists():
                workspace.create(path, starter)
        except OSError as error:
            raise DrillError(
                f"{path} cannot be written ({error.strerror}): set DRILL_WORKSPACE."
            ) from error
        return str(path)

    def _work(self, item: Item) -> None:
        question = self.bank.get(item.question)
        if question is None:  # another bank than the one it was begun with
            screen.print_said(f"This bank has no {item.question}: it does not count.")
            self.record.closed(item, state.OUT_OF_TIME, self.timer.used, None)
            return
        served = serving.serve(question, item.seed)
        self.person.asking(item, question["kind"])
        self._show(item, served)
        best = item.best
        if best is not None and (best.verdict == "passed" or not item.file):
            self._close(item, best.verdict, best.score)  # judged, and cut off before it was closed
        elif item.file:
            self._code(item, served)
        else:
            self._text(item, served)

    def _show(self, item: Item, served: serving.Served) -> None:
        screen.print_item(item, served, self.timer.left, item.hints)

    # answers that are no code -----------------------------------------------------------------

    def _text(self, item: Item, served: serving.Served) -> None:
        keeps = self.person.interactive  # a script gives it all again

        def keep(draft: dict[str, str]) -> None:
            if keeps:
                self.record.drafted(item, draft, self.timer.used)

        draft = dict(item.draft) if keeps else None
        answering = Answering(self.person, draft, keep, self.judge.unreadable)
        while True:
            try:
                given = answering.read(served)
            except Said as said:
                if self._obey(item, served, said):
                    return
                continue
            mistakes = self.app.index.mistakes
            report = self.judge.grade_answer(served.question, given, served.seed, mistakes)
            if report.verdict in ("invalid", "grader_error"):
                screen.print_unread(report)
                answering.given.clear()
                keep({})
                continue
            self._try(item, served, report, given)
            screen.print_noted(self.timer.used - item.at, item.par)
            self._close(item, report.verdict, report.score)
            return

    # code -------------------------------------------------------------------------------------

    def _code(self, item: Item, served: serving.Served) -> None:
        self._is_gone(item, served)
        while True:
            try:
                typed = self.person.block(screen.PROMPT)
            except Said as said:
                if self._obey(item, served, said):
                    return
                continue
            if typed.strip():
                screen.print_words(code=True)

    def _is_gone(self, item: Item, served: serving.Served) -> bool:
        """Whether the file was not there; it is put back as it was graded last."""
        path = Path(item.file)
        if path.exists():
            return False
        tries = (t for i in self.record.state().items if i.file == item.file for t in i.tries)
        graded = [kept[1] for t in tries if (kept := self.app.store.attempt(t.attempt)) is not None]
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            workspace.create(path, graded[-1] if graded else served.question["starter"])
        except OSError as error:
            screen.print_said(f"{item.file} is gone and cannot be written ({error.strerror}).")
            return True
        what = "as it was graded last" if graded else "as it began"
        screen.print_said(f"{workspace.near(path)} was gone: it is back, {what}.")
        return True

    def _run(self, item: Item, served: serving.Served, name: str) -> bool:
        """Grade the file; True where that closes the item."""
        try:
            source, shown = workspace.read_submission(served.question, name)
            seed = serving.draw_seed()
            report = submit.grade_source(
                self.app, self.grader, served.question, source, seed, shown
            )
        except DrillError as error:
            screen.print_said(str(error))
            return False
        if report.verdict == "grader_error":
            screen.print_unread(report)
            return False
        item = self._try(item, served, report, source.decode("utf-8", "replace"))
        screen.print_run(report, self.timer.used - item.at, item.par)
        if report.verdict == "passed" or self.timer.left <= 0:
            self._close(item, report.verdict, report.score)
            return True
        return False

    # both -------------------------------------------------------------------------------------

    def _try(self, item: Item, served: serving.Served, report: Report, source: str) -> Item:
        used = self.timer.used
        submit.record(
            self.app,
            served.question,
            report,
            source,
            used - item.at,
            lambda attempt: self.record.tried(item, report, used, attempt),
        )
        return self.record.state().item(item.number)

    def _close(self, item: Item, verdict: str, score: float) -> None:
        good = verdict == "passed" or (verdict == "needs_review" and score >= 0.5)
        outcome = state.PASSED if good else state.MISSED
        undecided = verdict in ("passed", "needs_review")
        self.record.closed(item, outcome, self.timer.used, None if undecided else MISSED)

    def _give_up(self, item: Item) -> None:
        """Leave the item as it stands: missed with what was tried, else skipped."""
        best = self.record.state().item(item.number).best
        if best is None:
            self.record.closed(item, state.SKIPPED, self.timer.used, MISSED)
        else:
            self._close(item, best.verdict, best.score)

    def _obey(self, item: Item, served: serving.Served, said: Said) -> bool:
        """Carry out a command word; True where it closes the item."""
        word = said.word
        if word in ("run", "edit", "done") and not item.file:
            screen.print_said(f"There is no code to {word} here: answer below.")
        elif word == "run" and not said.rest and self._is_gone(item, served):
            pass
        elif word == "run":
            return self._run(item, served, said.rest or workspace.near(Path(item.file)))
        elif word == "edit":
            self._is_gone(item, served)
            self._edit(item)
        elif word == "hint":
            self._hint(item, served)
        elif word in ("skip", "done"):
            self._give_up(item)
            return True
        elif word == "end":
            # What was not answered when the person ended it counts for nothing, either way.
            if self.record.state().item(item.number).tries:
                self._give_up(item)
            else:
                self.record.closed(item, state.OUT_OF_TIME, self.timer.used, None)
            self.record.ended("it was ended early", self.timer.used)
            return True
        elif word == "pause":
            self._pause()
        elif word == "quit":
            raise Left
        elif word == "repeat":
            self._show(self.record.state().item(item.number), served)
        elif word == "time":
            screen.print_time(self.timer, item)
        else:
            screen.print_words(code=bool(item.file))
        return False

    def _hint(self, item: Item, served: serving.Served) -> None:
        """The mistake that the last run had, by name, where one is known that no hint named; else
        the next hint."""
        from drills.commands.hint import next_hint

        now = self.record.state().item(item.number)
        mistakes = (t for t in sorted(now.troubles) if t in self.app.index.mistakes)
        known = next((t for t in mistakes if t not in now.named), "") if item.file else ""
        if known:
            self.app.note(item.question, "hint", item.seed, {"number": f"mistake {known}"})
            mistake = self.app.index.mistakes[known]
            told = served.text(f"{mistake['title']}. {mistake.get('hint') or ''}")
        else:
            _, told = next_hint(self.app, served)
        self.record.hinted(item, self.timer.used, known)
        screen.print_hint(told)

    def _edit(self, item: Item) -> None:
        from drills.editor import edit

        def opened() -> None:
            try:
                edit(Path(item.file))
            except DrillError as error:
                screen.print_said(str(error))

        self.person.alone(opened)

    def _pause(self) -> None:
        self.timer.stop()
        self.record.paused(self.timer.used)
        if self.person.interactive:
            screen.print_said("The clock stands. Enter goes on.")
            try:
                self.person.block(screen.PROMPT)
            except Said as said:
                if said.word == "quit":
                    raise Left from None
        self.record.resumed(self.timer.used)
        self.timer.go()
