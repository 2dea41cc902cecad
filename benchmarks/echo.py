"""How long a key takes to stand on the screen in `drill mock`: idle, while code is graded in
another process, and while an answer (a derivation, by sympy) is graded in this one.

python benchmarks/echo.py [KEYS]

Keys are typed on a pseudo-terminal, one every 30 ms, and each is timed from the write until a
person would see it. A drill whose grading held the keys up would show it in the second and third
line.
"""

from __future__ import annotations

import fcntl
import os
import pty
import select
import statistics
import struct
import subprocess
import sys
import tempfile
import termios
import time
from collections.abc import Callable
from itertools import cycle
from pathlib import Path

import pyte

ROOT = Path(__file__).resolve().parents[1]
KEYS = int(sys.argv[1]) if len(sys.argv) > 1 else 100
WRONG = ROOT / "tests" / "wrong" / "causal-mha" / "softmax-over-queries.py"
INTERVIEWS = 4  # each has one derivation, which is graded in a fraction of a second
GAP = 0.03  # seconds between keys
LONGEST = 5.0
COLUMNS, ROWS, LINE = 120, 100, 60  # a line of keys fits the screen
BUSY = "one moment"
# Nowhere near the targets, so that sympy tries what it has.
DERIVED = ["(d_k + 1)^7 * sqrt(d_k + d_model)^3 / (d_k^2 + d_model)^5"] * 5


class Person:
    """At a terminal, with a stopwatch."""

    def __init__(self, home: str, *options: str) -> None:
        self.master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
        env = {**os.environ, "DRILL_HOME": home, "DRILL_WORKSPACE": home, "TERM": "xterm-256color"}
        env["PYTHONPATH"] = str(ROOT)
        self.process = subprocess.Popen(
            [sys.executable, "-m", "drills", "mock", *options],
            stdin=slave, stdout=slave, stderr=slave, env=env, cwd=home, start_new_session=True,
        )  # fmt: skip
        os.close(slave)
        self._screen = pyte.Screen(COLUMNS, ROWS)
        self._stream = pyte.ByteStream(self._screen)
        self._keys = cycle("QZ")
        self._typed = ""
        self.written = b""

    @property
    def screen(self) -> str:
        return "\n".join(self._screen.display)

    def until(self, shown: Callable[[str], bool], seconds: float = 60.0) -> None:
        until = time.monotonic() + seconds
        while not shown(self.screen):
            self._read(0.2)
            if time.monotonic() > until:
                raise SystemExit(f"It never came:\n{self.screen}")

    def line(self, text: str, part: str = "") -> None:
        """Type it once the interviewer listens, for the `part` that stands over the clock."""
        self.until(lambda screen: _listens(screen.rstrip().split("\n"), part))
        os.write(self.master, f"\x15{text}\r".encode())
        self._typed = ""

    def echo(self) -> float:
        """Seconds from typing a key until it stands on the screen."""
        if len(self._typed) == LINE:
            os.write(self.master, b"\x15")
            self._typed = ""
            self.until(lambda screen: "QZ" not in screen)
        self._read(0.0)
        key = next(self._keys)
        self._typed += key
        began = time.perf_counter()
        os.write(self.master, key.encode())
        while self._typed not in self.screen:
            self._read(0.2)
            if time.perf_counter() - began > LONGEST:
                break
        return time.perf_counter() - began

    def leave(self) -> None:
        self.process.kill()
        self.process.wait()
        os.close(self.master)

    def _read(self, seconds: float) -> None:
        while select.select([self.master], [], [], seconds)[0]:
            data = os.read(self.master, 65536)
            self._stream.feed(data)
            self.written += data
            seconds = 0.0


def _listens(rows: list[str], part: str) -> bool:
    return rows[-1].startswith(" >") and (not part or rows[-3].startswith(part))


def idle(person: Person) -> list[float]:
    took = []
    for _ in range(KEYS):
        took.append(person.echo())
        time.sleep(GAP)
    return took


def during(person: Person, over: bytes) -> list[float]:
    """The keys that were typed from now until `over` tells of the grade once more."""
    took: list[float] = []
    told = person.written.count(over)
    while person.written.count(over) == told:
        took.append(person.echo())
        time.sleep(GAP)
    return took[:-1]  # the last may have come after it


def to_the(person: Person, what: str, skips: int = 12) -> None:
    """Skip up to the question that shows `what`, and let the imports end."""
    for number in range(1, skips):
        person.until(lambda screen, at=number: "hint · skip" in _asked(screen, at))
        if what in _asked(person.screen, number):
            time.sleep(3.0)
            return
        person.line("skip")
    raise SystemExit(f"There is no {what!r} in this interview.")


def _asked(screen: str, number: int) -> str:
    """The question and what came after it; empty until its clock stands there."""
    _, head, question = screen.rpartition(f"\n {number}. ")
    return question if head and f" left · {number}." in question and BUSY not in screen else ""


def show(what: str, took: list[float], base: float) -> None:
    middle, worst = statistics.median(took), max(took)
    high = sorted(took)[int(0.95 * (len(took) - 1))]
    told = "".join(f"{1000 * one:10.1f}" for one in (middle, high, worst))
    print(f"{what:<28}{len(took):6}{told}{middle / base:10.2f}")


def main() -> None:
    code: list[float] = []
    derived: list[float] = []
    with tempfile.TemporaryDirectory() as home:
        person = Person(home, "--seed", "5")
        to_the(person, "causal_mha(")
        alone = idle(person)
        while len(code) < KEYS:
            person.line(f"run {WRONG}")
            code += during(person, b" so far, par")
        person.leave()
    for _ in range(INTERVIEWS):
        with tempfile.TemporaryDirectory() as home:
            person = Person(home, "--seed", "5")
            to_the(person, "square root of d_k comes from")
            for number, step in enumerate(DERIVED, 1):
                person.line(step, f" {number}. ")
            derived += during(person, b" Noted: ")
            person.leave()
    base = statistics.median(alone)
    print(f"{'':<28}{'keys':>6}{'median ms':>10}{'95 %':>10}{'worst ms':>10}{'to idle':>10}")
    show("idle", alone, base)
    show("while code is graded", code, base)
    show("while an answer is graded", derived, base)


if __name__ == "__main__":
    main()
