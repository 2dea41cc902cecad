"""kill -9 at any instant loses no finished attempt."""

from __future__ import annotations

import json
import random
import signal
import sqlite3
import subprocess
import sys
import time

from conftest import Drill

from drills.store import Store

KILLS = 40


def test_an_attempt_whose_report_was_seen_survives_a_kill_at_any_instant(drill: Drill):
    assert drill("show", "kv-cache-size", "--seed", "5").code == 0
    command = [sys.executable, "-m", "drills", "answer", "kv-cache-size", "--seed", "5", "--json"]

    def begin(number: int) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            [*command, str(number)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=drill.env,
            cwd=drill.work,
        )

    began = time.monotonic()
    process = begin(1)
    process.communicate()
    usual = time.monotonic() - began
    seen, killed = {1}, 0
    choice = random.Random(11)
    for number in range(2, 2 + KILLS):
        process = begin(number)
        out = b""
        if number % 2:  # at the instant at which its report is complete
            for line in process.stdout or ():
                out += line
                if line == b"}\n":
                    break
        else:  # at any instant
            time.sleep(usual * choice.uniform(0.2, 1.3))
        process.kill()
        out += process.communicate()[0]
        killed += process.returncode == -signal.SIGKILL
        if _is_report(out):
            seen.add(number)
    assert killed > KILLS / 4
    assert len(seen) > KILLS / 4
    connection = sqlite3.connect(drill.home / "drill.db")
    assert connection.execute("PRAGMA integrity_check").fetchone()[0] == "ok"
    connection.close()
    kept = {int(row["source"]) for row in Store(drill.home, print).facts()["attempts"]}
    assert seen <= kept
    ran = drill("stats", "--json")
    assert ran.code == 0
    assert ran.err == ""
    assert ran.json["attempts"] == len(kept)


def test_a_kill_while_a_file_is_graded_leaves_no_process_and_no_damage(drill: Drill):
    source = "import time\ndef causal_mask(t, s):\n    time.sleep(60)\n"
    (drill.work / "slow.py").write_text(source)
    process = subprocess.Popen(
        [sys.executable, "-m", "drills", "grade", "causal-mask", "slow.py"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env={**drill.env, "DRILL_TEST_MARK": "x"},
        cwd=drill.work,
    )
    time.sleep(3.5)
    zygotes = _children(process.pid)
    assert zygotes
    process.kill()
    process.wait()
    deadline = time.monotonic() + 8
    while any(_alive(pid) for pid in zygotes) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert not any(_alive(pid) for pid in zygotes)
    assert drill("doctor", "--quick").code == 0


def _is_report(out: bytes) -> bool:
    try:
        return bool(json.loads(out)["verdict"])
    except ValueError:
        return False


def _children(pid: int) -> list[int]:
    done = subprocess.run(["ps", "-o", "pid=", "--ppid", str(pid)], capture_output=True, text=True)
    return [int(word) for word in done.stdout.split()]


def _alive(pid: int) -> bool:
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
