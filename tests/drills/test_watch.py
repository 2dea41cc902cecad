"""`drill watch`: every save is graded once, whatever editors, disks and people do meanwhile."""

from __future__ import annotations

import contextlib
import io
import json
import os
import queue
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from conftest import Drill
from rich.text import Text
from test_terminal import RIGHT, Terminal

from drills.screen.status_line import StatusLine
from drills.store import Store
from drills.watching.loop import MENU
from drills.watching.mailbox import Mailbox
from drills.watching.saves import Saves

termios = pytest.importorskip("termios")

WRONG = RIGHT.replace("tril(s - t)", "tril()")
SLOW = "import time\n" + RIGHT.replace("return", "time.sleep(0.1)\n    return") + "# slow\n"


def save(path: Path, text: str | bytes) -> None:
    """As editors do: written beside it, then moved over it."""
    path.parent.mkdir(exist_ok=True)
    new = path.with_name(f".{path.name}.swp")
    new.write_bytes(text if isinstance(text, bytes) else text.encode())
    os.replace(new, path)


# the file --------------------------------------------------------------------------------


@contextlib.contextmanager
def following(path: Path):
    told: queue.Queue[str | None] = queue.Queue()

    def tell(saves: Saves) -> None:
        told.put(saves.path.read_text() if saves.path.exists() else None)

    saves = Saves(path, tell)
    saves.start()
    time.sleep(0.3)  # until the folder is watched; before that a look comes each second
    try:
        yield told
    finally:
        saves.stop()
        saves.join(5)
        assert not saves.is_alive()


def test_a_save_is_told_whichever_way_the_file_comes_there(tmp_path):
    file = tmp_path / "sub" / "rope.py"
    file.parent.mkdir()
    with following(file) as told:
        save(file, "one")
        assert told.get(timeout=3) == "one"
        file.write_text("two")
        assert told.get(timeout=3) == "two"
        (file.parent / "rope.py~").write_text("of an editor")
        (file.parent / ".rope.py.swx").write_text("of an editor")
        file.rename(file.with_name("elsewhere.py"))
        assert told.get(timeout=3) is None
        file.with_name("elsewhere.py").rename(file)
        assert told.get(timeout=3) == "two"
        shutil.rmtree(file.parent)
        assert told.get(timeout=3) is None
        save(file, "three")  # in another folder of the same name
        assert told.get(timeout=5) == "three"
        for number in range(20):
            save(file, f"burst {number}")
        assert told.get(timeout=3) == "burst 19"
        assert told.empty()


def test_a_save_is_seen_where_the_system_sends_no_events(tmp_path, monkeypatch):
    import watchfiles

    def none_left(*_: object, **__: object):
        raise OSError("OS file watch limit reached.")

    monkeypatch.setattr(watchfiles, "watch", none_left)
    with following(tmp_path / "rope.py") as told:
        save(tmp_path / "rope.py", "one")
        assert told.get(timeout=4) == "one"


def test_messages_keep_their_order_and_a_key_comes_before_them():
    with Mailbox[int]() as mailbox:
        read, write = os.pipe()
        threading.Thread(target=lambda: [mailbox.put(n) for n in range(100)]).start()
        assert [mailbox.get(read) for _ in range(100)] == list(range(100))
        mailbox.put(100)
        assert mailbox.get(read) == 100
        os.write(write, b"q")
        assert mailbox.get(read) is None
        assert mailbox.get(timeout=0.01) is None


# the command, off a terminal ---------------------------------------------------------------


class Watch:
    """`drill watch --json` in the background, without any standard input."""

    def __init__(self, drill: Drill, *arguments: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "drills", "watch", *arguments, "--json"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=drill.work,
            env=drill.env,
            text=True,
        )
        self.reports: queue.Queue[dict] = queue.Queue()
        self.said: queue.Queue[str] = queue.Queue()
        for stream, put in (
            (self.process.stdout, lambda line: self.reports.put(json.loads(line))),
            (self.process.stderr, self.said.put),
        ):
            threading.Thread(target=self._read, args=(stream, put), daemon=True).start()

    @staticmethod
    def _read(stream, put) -> None:
        for line in stream:
            put(line)

    def verdict(self) -> str:
        return self.reports.get(timeout=40)["verdict"]

    def until(self, words: str) -> None:
        while words not in self.said.get(timeout=20):
            pass


def test_each_save_is_one_report_a_line_in_order_until_ctrl_c(drill: Drill):
    file = drill.work / "causal_mask.py"
    watch = Watch(drill, "causal-mask")
    watch.until("watching causal_mask.py")
    save(file, WRONG)
    assert watch.verdict() == "wrong_answer"
    save(file, WRONG)
    watch.until("unchanged since the last grade")
    save(file, SLOW)
    watch.until("grading causal_mask.py")
    save(file, RIGHT)  # while the last one runs
    watch.until("again after it")
    save(file, RIGHT + "# newest\n")
    assert [watch.verdict(), watch.verdict()] == ["passed", "passed"]
    file.unlink()
    watch.until("is gone")
    file.write_text(RIGHT.replace("tril", "triu"))
    assert watch.verdict() == "wrong_answer"
    save(file, b"\0\1\2")
    assert watch.verdict() == "invalid"
    shutil.rmtree(drill.work)
    watch.until("is gone")
    save(file, RIGHT)
    assert watch.verdict() == "passed"
    file.unlink()
    file.symlink_to(__file__)
    watch.until("symbolic link")
    watch.process.send_signal(signal.SIGINT)
    assert watch.process.wait(20) == 130
    assert watch.reports.empty()
    store = Store(drill.home, print)
    found = [a.verdict for a in store.attempts("causal-mask")]
    assert found == ["wrong_answer", "passed", "passed", "wrong_answer", "passed"]
    assert store.was_graded("causal-mask", RIGHT + "# newest\n")
    assert [e.name for e in store.events()] == ["started"]


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("causal-mask", "-"), "Standard input cannot be watched"),
        (("causal-mask", "nowhere.py"), "There is no file nowhere.py"),
        (("kv-cache-size",), "needs no file"),
    ],
)
def test_what_cannot_be_watched_is_said_in_a_sentence(drill: Drill, arguments, told):
    ran = drill("watch", *arguments)
    assert ran.code == 2
    assert told in ran.err
    assert ran.err.count("\n") == 1


# the command, on a terminal ----------------------------------------------------------------


def mode(terminal: Terminal) -> bool:
    """True where lines are echoed and edited, as a shell has it."""
    flags = termios.tcgetattr(terminal.master)[3]
    return bool(flags & termios.ECHO) and bool(flags & termios.ICANON)


def press(terminal: Terminal, keys: str) -> None:
    os.write(terminal.master, keys.encode())


@pytest.mark.parametrize("width", [40, 60, 80, 100])
def test_the_status_line_holds_every_key_however_narrow_it_is(width, monkeypatch):
    stream = io.StringIO()
    stream.isatty = lambda: True
    monkeypatch.setattr("sys.stderr", stream)
    for name, value in (("TERM", "xterm"), ("COLUMNS", str(width)), ("NO_COLOR", "1")):
        monkeypatch.setenv(name, value)
    StatusLine(MENU).show("18:04:05", "watching a_rather_long_name_of_a_file.py")
    shown = Text.from_ansi(stream.getvalue().rpartition("\x1b[2K")[2]).plain
    assert len(shown) < width
    assert re.findall(r"\[(.)\]", shown) == list("ghlnq")


def test_keys_work_while_a_grade_runs_and_the_terminal_is_left_as_it_was(drill: Drill):
    terminal = Terminal(drill, "watch", "causal-mask")
    terminal.until("[q]uit")
    assert not mode(terminal)
    press(terminal, "g")
    terminal.until("still the starter")
    save(drill.work / "causal_mask.py", SLOW)
    terminal.until("grading causal_mask.py")
    press(terminal, "\x1b[A")  # an arrow is no key of ours
    press(terminal, "h")
    assert "passed" not in terminal.until("Hint 1 of")  # before the grade is over
    terminal.until("More")
    assert Text.from_ansi(terminal.until("\n").strip()).plain.strip() == "h"  # a key, and no word
    terminal.until("passed", 60)
    terminal.until("Next ")
    assert ": new)" in terminal.until("[q]uit")
    terminal.process.send_signal(signal.SIGTSTP)  # ignored by the system: no shell is there
    terminal.until("[q]uit")
    press(terminal, "n")
    assert "Wrote" in terminal.until("each save is graded")
    press(terminal, "l")
    terminal.until("[y/N]")
    assert mode(terminal)
    os.write(terminal.master, b"n\n")
    terminal.until("[q]uit")
    terminal.process.send_signal(signal.SIGTERM)
    assert terminal.process.wait(20) == 128 + signal.SIGTERM
    assert mode(terminal)
    os.close(terminal.master)
    store = Store(drill.home, print)
    assert [e.name for e in store.events()] == ["started", "hint", "served"]
    assert [r.rating for r in store.reviews()] == [2]  # with a hint


def test_leaving_by_q_stops_a_grade_that_runs(drill: Drill):
    (drill.work / "causal_mask.py").write_text(
        RIGHT.replace("import torch", "import time; time.sleep(60)")
    )
    terminal = Terminal(drill, "watch", "causal-mask")
    terminal.until("grading causal_mask.py")
    began = time.monotonic()
    press(terminal, "q")
    terminal.until("It stays open")
    assert terminal.ends() == 0
    assert time.monotonic() - began < 8
    assert Store(drill.home, print).attempts() == []
