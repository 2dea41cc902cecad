"""The full terminal: a line to type on, and above it the clock.

The person types in the main thread, and the interviewer works in another one: what is typed is
shown at once whatever is being graded. Enter waits until the interviewer listens, and nothing that
was typed is lost.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any

from drills.ask import Said
from drills.mock.state import Item
from drills.mock.timer import Timer, shown
from drills.mock.typists import Interviewee, Left

if TYPE_CHECKING:
    from prompt_toolkit.formatted_text import StyleAndTextTuples
    from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent

_REDRAWN = 0.5  # seconds
_QUICK = 0.5
_FAREWELL = 2.0
_LEAVE, _ALONE = object(), object()


class Desk(Interviewee):
    """`listening` is whether the interviewer waits for a line."""

    def __init__(self, timer: Timer) -> None:
        super().__init__()
        self.timer = timer
        self.listening = False
        self.about = ""  # the round and the par, for the line with the clock
        self.entered = -_QUICK  # when Enter was pressed in vain
        self._prompt = ""
        self._lines: SimpleQueue[Any] = SimpleQueue()
        self._leave: object | None = None  # why the prompt is to be left
        self._action: Callable[[], None] = lambda: None
        self._acted = threading.Event()
        self._session: Any = None

    def asking(self, item: Item, kind: str) -> None:
        super().asking(item, kind)
        self.about = f"{item.number}. {item.round}, par {shown(item.par)}"

    # in the interviewer's thread ----------------------------------------------------------------

    def _input(self, prompt: str) -> str:
        lead, _, self._prompt = prompt.rpartition("\n")
        if lead or prompt.startswith("\n"):
            print(lead)
        self.listening = True
        self._redraw()
        typed = self._lines.get()
        self.listening = False
        if isinstance(typed, BaseException):
            raise typed
        return str(typed)

    def yes(self, prompt: str) -> bool:
        self.about = ""  # the questions are over
        reply = ""
        while reply not in ("y", "n", "yes", "no"):
            reply = self._input(prompt).strip().lower()
        return reply.startswith("y")

    def alone(self, action: Callable[[], None]) -> None:
        self._action = action
        self._acted.clear()
        self._leave = _ALONE
        self._redraw()
        self._acted.wait()

    def _redraw(self) -> None:
        if self._session is not None:
            self._session.app.invalidate()

    # in the main thread -------------------------------------------------------------------------

    def converse(self, work: Callable[[], None]) -> None:
        """Run `work` in a thread of its own and take down what is typed, until it is done.

        What `work` raises is raised here. KeyboardInterrupt where the person interrupts.
        """
        from prompt_toolkit.patch_stdout import patch_stdout

        failure: list[BaseException] = []

        def run() -> None:
            try:
                work()
            except BaseException as error:
                failure.append(error)
            finally:
                self._leave = _LEAVE
                self._redraw()

        self._session = _session(self)
        interviewer = threading.Thread(target=run, daemon=True)
        try:
            with patch_stdout(raw=True):
                interviewer.start()
                self._take_down()
        except BaseException:
            self._lines.put(Left())
            interviewer.join(_FAREWELL)  # it records that the person left, unless it is grading
            raise
        interviewer.join()
        if failure:
            raise failure[0]

    def _take_down(self) -> None:
        kept = ""
        while self._leave is not _LEAVE:
            try:
                typed = self._session.prompt(default=kept, pre_run=self._leave_if_asked)
            except EOFError:
                self._lines.put(Said("quit"))
                continue
            if typed is _LEAVE or typed is _ALONE:
                kept = self._session.default_buffer.text
                if typed is _ALONE:
                    self._leave = None
                    self._action()
                    self._acted.set()
                continue
            kept = ""
            self.listening = False  # at once: two quick lines are two answers
            self._lines.put(typed)

    def _leave_if_asked(self) -> None:
        app = self._session.app
        if self._leave is not None and app.is_running and not app.future.done():
            app.exit(result=self._leave)

    def _enter_if_meant(self) -> None:
        """An Enter a moment before the interviewer listened: two quick lines are two answers. One
        that came earlier, at a question not asked yet, is not taken for its answer."""
        if self.listening and time.monotonic() - self.entered < _QUICK:
            self.entered = -_QUICK
            self._session.app.loop.call_soon(self._session.default_buffer.validate_and_handle)

    def message(self) -> StyleAndTextTuples:
        """The clock, and the prompt under it; drawn twice a second, which is also when warnings are
        looked for. Once the line is finished, the prompt alone."""
        prompt = self._prompt if self.listening else " · "
        if self._session.app.is_done:
            return [("", prompt)]
        self._leave_if_asked()
        self._enter_if_meant()
        warning = self.timer.tick()
        if warning:
            print(f" {warning}")
        left = self.timer.left
        style = "class:low" if left <= 60 else "class:soon" if left <= 300 else "class:clock"
        clock = f" {shown(-left)} over" if left < 0 else f" {shown(left)} left"
        if not self.timer.running:
            clock += ", stopped"
        about = f" · {self.about}" if self.about else ""
        busy = "" if self.listening else " · one moment"
        return [(style, clock), ("class:about", f"{about}{busy}\n"), ("", prompt)]


def _session(desk: Desk) -> Any:
    from prompt_toolkit import PromptSession
    from prompt_toolkit.output.defaults import create_output
    from prompt_toolkit.styles import Style

    # Where the terminal does not tell where its cursor is, nothing waits for it.
    os.environ.setdefault("PROMPT_TOOLKIT_NO_CPR", "1")
    style = {"clock": "bold", "soon": "bold", "low": "bold"}
    if not os.environ.get("NO_COLOR"):
        style = {"clock": "ansicyan", "about": "ansibrightblack", "soon": "ansiyellow bold"}
        style["low"] = "ansired bold"
    return PromptSession(
        message=desk.message,
        refresh_interval=_REDRAWN,
        key_bindings=_keys(desk),
        output=create_output(),
        style=Style.from_dict(style),
        enable_suspend=True,
        reserve_space_for_menu=0,
    )


def _keys(desk: Desk) -> KeyBindings:
    from prompt_toolkit.filters import Condition
    from prompt_toolkit.key_binding import KeyBindings

    keys = KeyBindings()

    @keys.add("enter", filter=Condition(lambda: not desk.listening), eager=True)
    def _(event: KeyPressEvent) -> None:
        """Not yet: what was typed stays on the line."""
        desk.entered = time.monotonic()
        event.app.output.bell()

    return keys
