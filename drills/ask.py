"""Lines typed on the terminal: edited as in a shell, and pasted whole."""

from __future__ import annotations

import os
import signal
import sys
from contextlib import suppress
from types import FrameType

WORDS = ("hint", "solution", "skip", "quit")


class Said(Exception):
    """The learner typed a command in place of an answer; `rest` is what stood after it."""

    def __init__(self, word: str, rest: str = "") -> None:
        super().__init__(word)
        self.word = word
        self.rest = rest


class Typist:
    """Reads from the person at the terminal. What was pasted over several lines, and asked for
    line by line, waits in `pending`."""

    def __init__(self) -> None:
        self.pending: list[str] = []
        self._prompt = ""
        with suppress(ImportError):
            import readline  # arrow keys and history, from here on

            if os.environ.get("TERM", "dumb") not in ("dumb", "unknown"):
                # A paste of several lines comes as one piece.
                readline.parse_and_bind("set enable-bracketed-paste on")

    def block(self, prompt: str) -> str:
        """What is typed up to Enter; a paste may hold several lines. Raises Said for a command
        word alone, and EOFError at the end of input."""
        typed = self._input(prompt)
        word = typed.strip().lower()
        if word in WORDS:
            raise Said(word)
        return typed.replace("\r\n", "\n").replace("\r", "\n").rstrip("\n")

    def line(self, prompt: str) -> str:
        """One line, the next of a paste where one waits. Raises Said, at the end of input too."""
        if self.pending:
            line = self.pending.pop(0)
            print(f"{prompt}{line}")
            return line
        try:
            first, *self.pending = self.block(prompt).split("\n")
        except EOFError:
            print()
            raise Said("quit") from None
        return first

    def yes(self, prompt: str) -> bool:
        """A plain yes or no. What was typed before the question is no answer to it. Raises
        EOFError at the end of input."""
        self.pending.clear()
        _forget_what_was_typed()
        reply = ""
        while reply not in ("y", "n", "yes", "no"):
            reply = self._input(prompt).strip().lower()
        return reply.startswith("y")

    def _input(self, prompt: str) -> str:
        # Empty lines before it are no part of what readline redraws.
        lead, _, self._prompt = prompt.rpartition("\n")
        if lead or prompt.startswith("\n"):
            print(lead)
        stops = os.name == "posix" and signal.getsignal(signal.SIGTSTP) == signal.SIG_DFL
        if stops:
            signal.signal(signal.SIGTSTP, self._stop)
        try:
            return input(self._prompt)
        finally:
            if stops:
                signal.signal(signal.SIGTSTP, signal.SIG_DFL)

    def _stop(self, _signal: int, _frame: FrameType | None) -> None:
        """Ctrl-Z. After fg the shell's lines stand where the prompt was, in the shell's mode."""
        import termios

        terminal = sys.stdin.fileno()
        mode = termios.tcgetattr(terminal)
        signal.signal(signal.SIGTSTP, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGTSTP)  # stopped here, until SIGCONT
        signal.signal(signal.SIGTSTP, self._stop)
        termios.tcsetattr(terminal, termios.TCSANOW, mode)
        readline = sys.modules.get("readline")
        typed = readline.get_line_buffer() if readline is not None else ""
        print(f"{self._prompt}{typed}", end="", flush=True)


def _forget_what_was_typed() -> None:
    try:
        import termios
    except ImportError:  # Windows
        return
    with suppress(OSError, ValueError, termios.error):
        termios.tcflush(sys.stdin.fileno(), termios.TCIFLUSH)
