"""Answers taken on the terminal, right under the problem."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from drills import serving, submit
from drills.app import App, Question
from drills.ask import Said, Typist
from drills.screen.console import say
from grader import answers

if TYPE_CHECKING:
    from drills.serving import Served
    from grader.report import Report

_PROSE = "explain"
_MENU = "hint · solution · skip · quit"


class Answering:
    """One person at work on one answer. `given` holds, by id, the parts that need no asking:
    typed in this try, or right in the last one; of prose, under its kind, the lines so far. `keep`
    is told of it as it grows; `unreadable` says why a part cannot be read."""

    def __init__(
        self,
        typist: Typist | None = None,
        given: Mapping[str, str] | None = None,
        keep: Callable[[dict[str, str]], None] = lambda given: None,
        unreadable: Callable[[Question, int, str], str] = answers.unreadable,
    ) -> None:
        self.typist = typist or Typist()
        self.given: dict[str, str] = dict(given or {})
        self._keep = keep
        self._unreadable = unreadable

    def read(self, served: Served) -> str:
        """The whole answer, one part a line. Raises Said for a command word."""
        if served.question["kind"] == "explain":
            return self._prose()
        if served.by_parts:
            return self._parts(served)
        while True:
            try:
                typed = self.typist.block(" > ")
            except EOFError:
                print()
                raise Said("quit") from None
            if typed.strip():
                return typed

    def learn(self, report: Report) -> None:
        """Keep what `report` found right."""
        right = {part.id for part in report.parts if part.verdict == "passed"}
        self.given = {part: text for part, text in self.given.items() if part in right}

    def _prose(self) -> str:
        lines = [line for line in self.given.get(_PROSE, "").split("\n") if line]
        if lines:
            count = "one line" if len(lines) == 1 else f"{len(lines)} lines"
            say(f" Kept: {count}. Go on; an empty line ends your answer.")
        else:
            say(" Your answer; an empty line ends it.")
        while True:
            try:
                typed = self.typist.block(" > ").strip()
            except EOFError:
                print()
                if not lines:
                    raise Said("quit") from None
                typed = ""
            if typed:
                lines.append(typed)
                self._give(_PROSE, "\n".join(lines))
            elif lines:
                del self.given[_PROSE]
                return "\n".join(lines)

    def _give(self, part: str, typed: str) -> None:
        self.given[part] = typed
        self._keep(self.given)

    def _parts(self, served: Served) -> str:
        kept = [str(n) for n, part in enumerate(served.parts, 1) if part["id"] in self.given]
        if kept:
            print(f" Kept: {', '.join(kept)}.")
        for number, part in enumerate(served.parts):
            if part["id"] not in self.given:
                self._give(part["id"], self._part(served, number))
        return "\n".join(self.given[part["id"]] for part in served.parts)

    def _part(self, served: Served, number: int) -> str:
        print(f" {number + 1}. {served.parts[number]['asks']}")
        matrix = served.question["kind"] == "trace"
        while True:
            typed = self._matrix() if matrix else self.typist.line(" > ").strip()
            fault = self._unreadable(served.question, number, typed) if typed else ""
            if typed and not fault:
                return typed
            self.typist.pending.clear()
            if fault:
                say(f" {fault}")

    def _matrix(self) -> str:
        """A line, and those after it until its brackets close; pasted bare rows are one matrix."""
        typed = self.typist.line(" > ").strip()
        pasted = [row.strip() for row in self.typist.pending if row.strip()]
        if pasted and not any(mark in row for row in (typed, *pasted) for mark in ";[,"):
            self.typist.pending.clear()
            return "; ".join([typed, *pasted])
        while typed.count("[") > typed.count("]"):
            typed += " " + self.typist.line(" … ").strip()
        return typed


def menu() -> None:
    print(f"\n answer below, or type:  {_MENU}\n")


def read_answer(app: App, served: Served) -> str | None:
    """One answer as typed, one part a line; None where the learner left."""
    answering = Answering()
    menu()
    while True:
        try:
            return answering.read(served)
        except Said as said:
            if obey(app, served, said.word):
                return None
            print()


def review(served: Served, report: Report, typist: Typist | None = None) -> Report:
    """Ask the learner about each point that no rule decides, and mark it so."""
    said = judge_points(report, typist or Typist())
    return report if said is None else answers.apply_review(report, said, served.question)


def judge_points(report: Report, typist: Typist) -> dict[str, bool] | None:
    """Whether the answer made each point that no rule decides, by the learner's word; None where
    there is no such point, or the learner left."""
    open_parts = [part for part in report.parts if part.verdict == "needs_review"]
    if report.verdict != "needs_review" or not open_parts:
        return None
    from rich.text import Text

    from drills.screen.console import out
    from drills.screen.markdown import wrap
    from drills.screen.safe import safe

    count = len(open_parts)
    print(f"\n {count} point{'s' if count > 1 else ''} for you to judge. Did your answer say:\n")
    said: dict[str, bool] = {}
    for part in open_parts:
        for line in wrap(Text(safe(part.asks or part.id)), out().width, " · "):
            out().print(line)
        try:
            said[part.id] = typist.yes("   [y/n] ")
        except EOFError:
            print()
            return None
    return said


def answer_loop(app: App, served: Served) -> None:
    """Until it is passed, skipped or left: read, grade, record, show.

    A wrong answer's report works the sum out, so the next try has new numbers.
    """
    from drills.screen.pages import print_outcome, print_problem

    answering = Answering()
    menu()
    while True:
        try:
            given = answering.read(served)
        except Said as said:
            if obey(app, served, said.word):
                return
            print()
            continue
        report = review(served, submit.grade_text(app, served, given), answering.typist)
        outcome = submit.record(app, served.question, report, given)
        print_outcome(outcome, in_place=not outcome.over)
        if outcome.over:
            return
        answering.learn(report)
        if served.parameters and report.verdict != "invalid":
            answering.given.clear()
            served = serving.serve(served.question, serving.draw_seed())
            app.note(served.id, "shown", served.seed)
            print_problem(served, "again, with new numbers")
        print(f"\n again, or type:  {_MENU}\n")


def obey(
    app: App, served: Served, word: str, typed: tuple[str, str] = ("hint", "solution")
) -> bool:
    """Carry out a command word; True where it ends the sitting at this terminal. `typed` is what
    the learner types here for a hint, and for the solution."""
    from drills.screen.pages import print_hint

    if word == "hint":
        from drills.commands.hint import next_hint

        number, text = next_hint(app, served)
        print_hint(served, number, text, typed)
        return False
    if word == "solution":
        from drills.commands.solution import agreed, show_solution

        if not agreed(app, served):
            return False
        show_solution(app, served)
    elif word == "skip":
        from drills.commands.skip import skip

        skip(app, served.id)
    else:
        say(f"It stays open. Next: drill next, or drill answer {served.id}")
    return True
