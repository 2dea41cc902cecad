"""`drill next` on a real (pseudo-)terminal: answers in place, the editor, commands in between."""

from __future__ import annotations

import os
import time

import pytest
from conftest import Drill, right_answer

from drills.store import Store

pytest.importorskip("pty")

from terminal import Terminal

RIGHT = "def causal_mask(t, s):\n    import torch\n    return torch.ones(t, s).tril(s - t).bool()\n"


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


def paste(terminal: Terminal, text: str) -> None:
    """As a terminal hands over a paste, where the program asked for its brackets."""
    os.write(terminal.master, b"\x1b[200~" + text.encode() + b"\x1b[201~\n")


def test_a_part_that_cannot_be_read_is_asked_again_at_once_and_right_ones_never(drill: Drill):
    terminal = Terminal(drill, "answer", "derive-softmax-jacobian")
    terminal.until("1. the diagonal")
    terminal.until(" > ")
    terminal.type("p_i (1 - p_i")
    assert "not closed" in terminal.until(" > ")
    terminal.type("hint")
    terminal.until("Hint 1 of")
    terminal.until(" > ")
    terminal.type("p_i (1 - p_i)")
    terminal.until(" > ")
    terminal.type("hint")
    terminal.until("Kept: 1.")
    assert "1. the diagonal" not in terminal.until(" > ")
    terminal.type("p_i p_j")
    terminal.until(" > ")
    terminal.type("0")
    assert "2 of 3 steps" in terminal.until("drill hint")
    assert terminal.ends() == 1
    terminal = Terminal(drill, "next", "--topic", "attention", "--kind", "derive")
    terminal.until(" > ")
    paste(terminal, "\n".join(("0", "1", "d_k", "d_k", "1/sqrt(d_k)")))
    terminal.until("4 of 5 steps")
    assert "Kept: 1, 2, 3, 5." in terminal.until(" > ")
    terminal.type("sqrt(d_k)")
    assert "passed" in terminal.until("drill next")
    assert terminal.ends() == 0


def test_bytes_that_are_no_text_are_an_answer_that_cannot_be_read(drill: Drill):
    terminal = Terminal(drill, "next", "--kind", "choice", PYTHONIOENCODING="utf-8")
    terminal.until(" > ")
    os.write(terminal.master, b"\xff\xfe\n")
    assert "invalid" in terminal.until(" > ")
    terminal.type("quit")
    assert terminal.ends() == 0


def test_pasted_rows_are_one_matrix(drill: Drill):
    terminal = Terminal(drill, "next", "--kind", "trace")
    terminal.until(" > ")
    paste(terminal, "1 0 1\n0 1 1\n1 1 2")
    terminal.until("2. the scaled")
    terminal.until(" > ")
    terminal.type("quit")
    assert terminal.ends() == 0


def test_the_code_menu_takes_whole_words_and_says_what_an_editor_did(drill: Drill):
    terminal = Terminal(drill, "next", "--kind", "code", EDITOR="false")
    for typed, answer in (
        ("e", "failed (status 1)"),
        ("g", "still the starter"),
        ("solution", "[y/N]"),
    ):
        terminal.until("[q]uit > ")
        terminal.type(typed)
        terminal.until(answer)
    terminal.type("n")
    terminal.until("[q]uit > ")
    terminal.type("sk")
    terminal.until("Type one of")
    terminal.until("[q]uit > ")
    terminal.type("q")
    assert terminal.ends() == 0
    store = Store(drill.home, print)
    assert store.reviews() == store.attempts() == []
    assert [e.name for e in store.events()] == ["served"]
    terminal = Terminal(drill, "next", "--kind", "code")  # no editor at all
    assert "[e]dit" not in terminal.until("[q]uit > ")
    terminal.type("e")
    assert "EDITOR" in terminal.until("[q]uit > ")
    os.write(terminal.master, b"\x04")
    assert terminal.ends() == 0
