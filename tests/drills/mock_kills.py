"""Run by test_mock_kill.py: interviews that are killed at random instants and gone on with.

One process imports drill once and forks each command, so that the instants fall into the interview
and not into Python's start. Prints, for each command, what it had said when it died.
"""

from __future__ import annotations

import json
import os
import random
import signal
import sys
import time
from contextlib import suppress
from importlib import import_module

from drills import cli
from grader import answers

KILLS = int(sys.argv[1])
ANSWERS = sys.argv[2]


class Here:
    """Judges in this process, where all that it takes was imported."""

    grade_answer = staticmethod(answers.grade_answer)
    unreadable = staticmethod(answers.unreadable)

    def __enter__(self) -> Here:
        return self

    def __exit__(self, *_: object) -> None:
        pass


def command(arguments: list[str], lines: int, late: float) -> tuple[str, bool]:
    """What `drill` said, and whether it was killed: `late` seconds after so many lines of it."""
    read, write = os.pipe()
    child = os.fork()
    if not child:
        os.dup2(write, 1)
        os.dup2(write, 2)
        os.close(read)
        sys.stdout = os.fdopen(1, "w", buffering=1)
        with suppress(SystemExit):
            cli.main(arguments)
        sys.stdout.flush()
        os._exit(0)
    os.close(write)
    said, killed = b"", False
    while data := os.read(read, 1024):
        said += data
        if said.count(b"\n") >= lines and not killed:
            time.sleep(late)
            os.kill(child, signal.SIGKILL)
            killed = True
    os.close(read)
    _, status = os.waitpid(child, 0)
    return said.decode("utf-8", "replace"), os.WIFSIGNALED(status)


def main() -> None:
    for kind in answers.KINDS:
        import_module(f"grader.answers.{kind}")
    chance = random.Random(5)
    script = ["--answers", ANSWERS]
    runs, kills, interview, fresh = [], 0, 1, True
    while kills < KILLS:
        start = ["mock", "--seed", str(interview + 1)] if fresh else ["mock", "--resume"]
        lines, late = chance.randrange(70), chance.uniform(0.0, 0.03)
        said, killed = command([*start, *script], lines, late)
        runs.append({"interview": interview, "said": said, "killed": killed})
        kills += killed
        fresh = "A loop would likely say" in said or "There is no unfinished" in said
        interview += fresh
    json.dump(runs, sys.stdout)


main()
