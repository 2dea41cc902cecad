"""How long a key takes to stand on the screen in `drill mock`: idle, and while code is graded.

python benchmarks/echo.py [KEYS]

Keys are typed on a pseudo-terminal, one every 30 ms; each is timed from the write to its echo. A
drill whose grading held the keys up would show it in the second and third line.
"""

from __future__ import annotations

import os
import pty
import select
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
KEYS = int(sys.argv[1]) if len(sys.argv) > 1 else 100
RIGHT = sorted((ROOT / "tests" / "honest" / "causal-mha").glob("*.py"))[0]
GAP = 0.03  # seconds between keys
LONGEST = 5.0


class Person:
    """At a terminal, with a stopwatch."""

    def __init__(self, home: str) -> None:
        self.master, slave = pty.openpty()
        env = {**os.environ, "DRILL_HOME": home, "DRILL_WORKSPACE": home, "TERM": "xterm-256color"}
        env["PYTHONPATH"] = str(ROOT)
        self.process = subprocess.Popen(
            [sys.executable, "-m", "drills", "mock", "--seed", "5"],
            stdin=slave, stdout=slave, stderr=slave, env=env, cwd=home, start_new_session=True,
        )  # fmt: skip
        os.close(slave)
        self.seen = ""

    def wait(self, words: str, seconds: float = 60.0) -> str:
        until = time.monotonic() + seconds
        while words not in self.seen:
            self._read(0.2)
            if time.monotonic() > until:
                raise SystemExit(f"{words!r} never came:\n{self.seen[-2000:]}")
        before, _, self.seen = self.seen.partition(words)
        return before

    def line(self, text: str) -> None:
        os.write(self.master, f"{text}\r".encode())

    def echo(self, key: str) -> float:
        """Seconds from typing `key` until it is written to the terminal."""
        self._read(0.0)
        self.seen = ""
        began = time.perf_counter()
        os.write(self.master, key.encode())
        while key not in self.seen:
            self._read(0.2)
            if time.perf_counter() - began > LONGEST:
                break
        return time.perf_counter() - began

    def _read(self, seconds: float) -> None:
        while select.select([self.master], [], [], seconds)[0]:
            self.seen += os.read(self.master, 65536).decode("utf-8", "replace")
            seconds = 0.0


def typed(person: Person, keys: int) -> list[float]:
    took = []
    for number in range(keys):
        took.append(person.echo("QZ"[number % 2]))  # letters that nothing else writes
        time.sleep(GAP)
    return took


def show(what: str, took: list[float], base: float) -> None:
    middle = statistics.median(took)
    worst = max(took)
    print(f"{what:<28}{1000 * middle:8.1f}{1000 * worst:10.1f}{middle / base:12.2f}")


def main() -> None:
    with tempfile.TemporaryDirectory() as home:
        person = Person(home)
        person.wait(" left · 1.")
        for _ in range(12):
            person.line("skip")
            if "run · edit" in person.wait("hint · skip"):
                break
        person.wait(" left · ")
        time.sleep(3.0)  # torch is being imported meanwhile
        idle = typed(person, KEYS)
        person.line("\x15")
        graded = []
        while len(graded) < KEYS:
            os.write(person.master, f"\x15run {RIGHT.parent}/nothing.py\r".encode())
            time.sleep(0.3)
            wrong = ROOT / "tests" / "wrong" / "causal-mha" / "softmax-over-queries.py"
            os.write(person.master, f"\x15run {wrong}\r".encode())
            graded += typed(person, 12)
        person.process.kill()
        person.process.wait()
    base = statistics.median(idle)
    print(f"{'':<28}{'median ms':>8}{'worst ms':>10}{'to idle':>12}")
    show("idle", idle, base)
    show("while code is graded", graded[:KEYS], base)


if __name__ == "__main__":
    main()
