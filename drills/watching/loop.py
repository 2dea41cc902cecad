"""The loop of `drill watch`: saves are graded, keys obeyed, and neither waits for the other."""

from __future__ import annotations

import contextlib
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from drills import choose, clock, submit, workspace
from drills.app import App, Question
from drills.errors import NOT_PASSED, DrillError
from drills.screen import console
from drills.screen.report import words
from drills.screen.status_line import StatusLine
from drills.watching.grading import Graded, Grading, Job
from drills.watching.keys import ENDED, Keys
from drills.watching.mailbox import Mailbox
from drills.watching.saves import Saves
from questions.kinds import CODE_KINDS

if TYPE_CHECKING:
    from drills.serving import Served
    from grader.session import Grader

MENU = "[g]rade [h]int so[l]ution [n]ext [q]uit"
_IN_BACKGROUND = 1.0  # seconds until it is looked whether the shell put us in front again
_AGAIN = "again"  # drawn anew, after fg


class Watching:
    """One learner with one file at a time."""

    def __init__(self, app: App, served: Served, path: Path, as_json: bool) -> None:
        self.app = app
        self.served = served
        self.path = path
        self.as_json = as_json
        self.in_person = console.on_terminal() and not as_json
        self.status = StatusLine(MENU if self.in_person else "")
        self.mailbox: Mailbox[Saves | Graded | str] = Mailbox()
        self.graded: bytes | None = None  # the content that was graded last
        self.running: Job | None = None
        self.waiting = False  # a save came while a grade was running
        self.told = ""

    def run(self, grader: Grader) -> None:
        """Until it is left by q, Ctrl-C (KeyboardInterrupt) or a signal."""
        with contextlib.ExitStack() as stack:
            stack.enter_context(self.mailbox)
            stack.callback(self.status.clear)
            self.grading = stack.enter_context(Grading(self.app, grader, self.mailbox.put))
            self.saves = self._follow()
            stack.callback(lambda: self.saves.stop())
            keys = None
            if self.in_person:
                with contextlib.suppress(ImportError):
                    keys = stack.enter_context(Keys(lambda: self.mailbox.put(_AGAIN)))
            self._begin()
            while self._step(keys):
                pass

    def _step(self, keys: Keys | None) -> bool:
        """One message or some keys; False once the learner leaves."""
        descriptor = keys.descriptor() if keys else None
        timeout = _IN_BACKGROUND if keys and descriptor is None else None
        message = self.mailbox.get(descriptor, timeout)
        if isinstance(message, Graded):
            self._show(message)
        elif isinstance(message, Saves):
            if message is self.saves:
                self._grade()
        elif message == _AGAIN:
            self._tell()
        elif keys and descriptor is not None:
            return all(self._obey(key, keys) for key in keys.read())
        return True

    # the file -----------------------------------------------------------------------------

    def _follow(self) -> Saves:
        saves = Saves(self.path, self.mailbox.put)
        saves.start()
        return saves

    def _begin(self) -> None:
        """Grade what stands there, unless it was graded before or is still the starter."""
        self.graded = None
        self.waiting = False
        try:
            source, _ = workspace.read_submission(self.served.question, str(self.path))
        except DrillError:
            self._tell(f"watching {self._near()}")
            return
        if self.app.store.was_graded(self.served.id, source.decode("utf-8", "replace")):
            self.graded = source
            self._tell(f"watching {self._near()}, graded before")
        else:
            self._grade()

    def _grade(self, asked: bool = False) -> None:
        """Grade the file as it is now; while a grade is running, right after it."""
        if self.running is not None:
            self.waiting = True
            self._tell(f"grading, and {self._near()} again after it")
            return
        path = self._near()
        try:
            source, name = workspace.read_submission(self.served.question, path)
        except DrillError as error:
            self._refuse(error)
            return
        if source == self.graded and not asked:
            self._say(f"{path} is unchanged since the last grade.")
            return
        self.running = Job(self.served, source, path, name)
        self.grading.put(self.running)
        self._tell(f"grading {path} …")

    def _refuse(self, error: DrillError) -> None:
        """The file cannot be graded as it is."""
        if not self.path.exists() and not self.path.is_symlink():
            self._say(f"{self._near()} is gone; it is graded once it is back.")
            return
        if self.as_json and error.code == NOT_PASSED:
            report = submit.ungraded(self.served.question, None, "invalid", str(error))
            console.print_json(report.to_json(), one_line=True)
        self._say(str(error))

    def _show(self, graded: Graded) -> None:
        job, self.running = graded.job, None
        try:
            if isinstance(graded.result, DrillError):
                raise graded.result
            source = job.source.decode("utf-8", "replace")
            outcome = submit.record(self.app, job.served.question, graded.result, source)
        except DrillError as error:
            self._say(str(error))
        else:
            if outcome.report.verdict != "grader_error" and job.served is self.served:
                self.graded = job.source
            self._print(replace(outcome, path=job.path))
        if self.waiting:
            self.waiting = False
            self._grade()

    def _print(self, outcome: submit.Outcome) -> None:
        if self.as_json:
            console.print_json(outcome.report.to_json(), one_line=True)
        else:
            from drills.screen.pages import print_outcome

            self.status.clear()
            then = self._then() if self.in_person and outcome.over else ("drill next", "")
            print_outcome(outcome, in_place=outcome.report.verdict != "grader_error", then=then)
            print(flush=True)
        word = "" if self.in_person else f"{words(outcome.report.verdict)}; "
        self._tell(f"{word}watching {self._near()}")

    # the learner --------------------------------------------------------------------------

    def _obey(self, key: str, keys: Keys) -> bool:
        """Do what a key stands for; False for leaving."""
        if key in ("q", ENDED):
            self.status.clear()
            if not self.app.sitting(self.served.id).rated:
                console.say(f"It stays open. Next: drill watch {self.served.id}")
            return False
        try:
            if key == "g":
                self._grade(asked=True)
            elif key == "h":
                self._show_page("hint")
            elif key == "l":
                with keys.as_before():
                    self._show_page("solution")
            elif key == "n":
                self._next()
        except DrillError as error:
            self._say(str(error))
        return True

    def _show_page(self, word: str) -> None:
        from drills.in_place import obey

        self.status.clear()
        obey(self.app, self.served, word, typed=("h", "l"))
        print(flush=True)
        self._tell()

    def _next(self) -> None:
        from drills.commands.next import hand_out
        from drills.screen.pages import print_problem, print_starter

        choice = self._coming()
        served, starter, problem = hand_out(self.app, choice)
        if starter is None:
            raise DrillError(problem)
        self.saves.stop()
        self.served, self.path = served, starter.path
        self.saves = self._follow()
        self.status.clear()
        print_problem(served, choice.note)
        print_starter(starter, "each save is graded")
        print(flush=True)
        self._begin()

    def _coming(self) -> choose.Choice:
        """The code problem that n serves. Raises DrillError where none is due or new."""
        here = self.served.id

        def fits(question: Question) -> bool:
            return question["kind"] in CODE_KINDS and question["id"] != here

        return choose.choose(self.app, among=fits)

    def _then(self) -> tuple[str, str]:
        try:
            choice = self._coming()
        except DrillError:
            return "drill next", "no other code problem is due or new"
        return "n", f"{choice.question['id']}: {choice.note or choice.reason}"

    # the screen ---------------------------------------------------------------------------

    def _near(self) -> str:
        return workspace.near(self.path)

    def _tell(self, what: str = "") -> None:
        """At the bottom: what goes on. Without `what`, the same again."""
        again, self.told = not what, what or self.told
        if not again or self.in_person:
            self.status.show(_time(), self.told)

    def _say(self, what: str) -> None:
        """A line that stays, above what goes on."""
        self.status.tell(_time(), what)
        if self.in_person:
            self._tell(f"watching {self._near()}")


def _time() -> str:
    sys.stdout.flush()
    return clock.now().astimezone().strftime("%H:%M:%S")
