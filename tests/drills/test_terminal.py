"""`drill next` on a real (pseudo-)terminal: answers in place, the editor, commands in between."""

from __future__ import annotations

import os
import select
import subprocess
import sys
import time

import pytest
from conftest import Drill, right_answer

from drills.store import Store

pty = pytest.importorskip("pty")

RIGHT = "def causal_mask(t, s):\n    import torch\n    return torch.ones(t, s).tril(s - t).bool()\n"


class Terminal:
    """A command on a terminal of 80 columns: `until` reads, `type` answers."""

    def __init__(self, drill: Drill, *arguments: str, **env: str) -> None:
        self.master, slave = pty.openpty()
        self.process = subprocess.Popen(
            [sys.executable, "-m", "drills", *arguments],
            stdin=slave,
            stdout=slave,
            stderr=slave,
            cwd=drill.work,
            env={**drill.env, "COLUMNS": "80", **env},
            start_new_session=True,
        )
        os.close(slave)
        self.seen = ""

    def until(self, words: str, seconds: float = 30) -> str:
        """What is printed up to `words`; fails where they do not come."""
        start, deadline = len(self.seen), time.monotonic() + seconds
        while words not in self.seen[start:]:
            ready, _, _ = select.select([self.master], [], [], 0.2)
            if ready:
                try:
                    self.seen += os.read(self.master, 65536).decode("utf-8", "replace")
                except OSError:  # the other end was closed
                    break
            assert time.monotonic() < deadline, self.seen
        assert words in self.seen[start:], self.seen
        return self.seen[start:]

    def type(self, text: str) -> None:
        os.write(self.master, text.encode() + b"\n")

    def ends(self) -> int:
        """The exit code, once the rest was read."""
        while True:
            try:
                if not os.read(self.master, 65536):
                    break
            except OSError:
                break
        os.close(self.master)
        return self.process.wait(20)


def test_a_number_is_answered_in_place_and_new_numbers_follow_a_wrong_one(drill: Drill):
    shown = drill("next", "--kind", "compute", "--json").json
    terminal = Terminal(drill, "next", "--kind", "compute")
    terminal.until(" > ")
    terminal.type("1")
    text = terminal.until(" > ")
    assert "wrong answer" in text
    assert "again, with new numbers" in text
    terminal.type("hint")
    assert "Hint 1 of" in terminal.until(" > ")
    seed = drill("show", shown["id"], "--json").json
    terminal.type(right_answer(seed))
    assert "drill next" in terminal.until("drill next")
    assert terminal.ends() == 0
    store = Store(drill.home, print)
    assert [a.verdict for a in store.attempts(shown["id"])] == ["wrong_answer", "passed"]
    assert store.attempts()[-1].seed == seed["seed"] != shown["seed"]
    assert [r.rating for r in store.reviews()] == [2]  # with a hint


def test_parts_are_asked_one_by_one_and_kept_for_the_next_try(drill: Drill):
    terminal = Terminal(drill, "answer", "derive-softmax-jacobian")
    for text in ("p_i (1 - p_i)", "-p_i p_j", "0"):
        terminal.until(" > ")
        terminal.type(text)
    assert "passed" in terminal.until("drill next")
    assert terminal.ends() == 0


def test_code_is_edited_and_graded_until_it_passes(drill: Drill, tmp_path):
    editor = tmp_path / "editor.sh"
    editor.write_text(f"#!/bin/sh\ncat > \"$1\" <<'END'\n{RIGHT}END\n")
    editor.chmod(0o755)
    assert drill("start", "causal-mask").code == 0
    terminal = Terminal(drill, "next", "--topic", "attention", "--kind", "code", EDITOR=str(editor))
    terminal.until("[q]uit > ")
    terminal.type("e")
    terminal.until("[q]uit > ")
    terminal.type("g")
    assert "passed" in terminal.until("drill next")
    assert terminal.ends() == 0
    assert (drill.work / "causal_mask.py").read_text() == RIGHT
    assert [r.rating for r in Store(drill.home, print).reviews("causal-mask")] == [4]


def test_leaving_keeps_the_problem_open_and_skipping_puts_it_off(drill: Drill):
    terminal = Terminal(drill, "next", "--kind", "derive")
    terminal.until(" > ")
    terminal.type("quit")
    assert terminal.ends() == 0
    assert drill("next", "--kind", "derive", "--json").json["reason"] == "unfinished"
    terminal = Terminal(drill, "next", "--kind", "derive")
    terminal.until(" > ")
    terminal.type("skip")
    assert terminal.ends() == 0
    assert drill("next", "--kind", "derive", "--json").json["reason"] == "new"


def test_ctrl_c_at_a_question_leaves_with_130(drill: Drill):
    terminal = Terminal(drill, "next", "--kind", "derive")
    terminal.until(" > ")
    os.write(terminal.master, b"\x03")
    # The terminal is not the controlling one of the new session, so the signal is sent by hand.
    time.sleep(0.2)
    if terminal.process.poll() is None:
        terminal.process.send_signal(2)
    assert terminal.ends() == 130
