"""What a long history costs: `drill stats` against `python -c "import click"`, and `drill report`.

Run it as `python benchmarks/progress.py [--attempts 10000] [--rounds 21] [--keep DIR]`. It grades
submissions of this repository, right and wrong, and answers to the other questions, and copies
those reports into the history of a learner who practised for more than a year. Every round runs
the baseline and the commands once, in a new order; a ratio is the median over rounds of
command / baseline within one round. --keep leaves the database in DIR, for `DRILL_HOME=DIR drill`.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from drills import clock, schedule
from drills.store import Store, new_uuid
from grader import answers
from grader.session import Grader
from questions import index

ROOT = Path(__file__).resolve().parents[1]
STATS_LIMIT = 4.0  # times the baseline
REPORT_LIMIT = 5.0  # seconds
TEXTS = ("3 GB", "1", "a", "No: it is the same for both.", "x", "1 2 3")
Graded = tuple[dict[str, Any], str]  # a report and what was graded
Rows = dict[str, list[tuple[Any, ...]]]


def graded(bank: index.Index) -> dict[str, list[Graded]]:
    """Reports by question: a passed one first, or one made to pass, then others."""
    found: dict[str, list[Graded]] = {}
    with Grader() as grader:
        for question_id, question in bank.questions.items():
            if question["kind"] in ("code", "debug"):
                honest = sorted((ROOT / "tests/honest" / question_id).glob("*.py"))[:1]
                wrong = sorted((ROOT / "tests/golden/submissions").glob(f"{question_id}--*.py"))
                for file in [*honest, *(w for w in wrong if "endless" not in w.name)][:4]:
                    report = grader.grade(
                        question, file.read_bytes(), 1, file.name, bank.mistakes, None
                    )
                    found.setdefault(question_id, []).append((report.to_json(), file.read_text()))
            elif question["kind"] != "kernel":
                for text in TEXTS:
                    report = answers.grade_answer(question, text, 1, bank.mistakes)
                    found.setdefault(question_id, []).append((report.to_json(), text))
    for reports in found.values():
        reports.sort(key=lambda one: one[0]["verdict"] != "passed")
        if reports[0][0]["verdict"] != "passed":
            report, text = reports[0]
            right = {**report, "verdict": "passed", "score": 1.0, "mistakes": []}
            reports.insert(0, (right, text))
    return found


def history(found: dict[str, list[Graded]], attempts: int, bank: index.Index) -> Rows:
    """A learner who comes back a few days a week, and gets better."""
    draw = random.Random(1)
    rows: Rows = {"attempts": [], "reviews": [], "events": []}
    names = [name for name in bank.order if name in found]
    reviewed: dict[str, datetime] = {}
    now = clock.now()
    days = 420
    a_sitting = max(1, round(attempts / (days * 0.7) / 1.7))
    for day in range(days, 0, -1):
        if draw.random() < 0.3 and day > 4:
            continue
        known = names[: max(3, round(len(names) * (1 - day / days) ** 0.5))]
        at = now - timedelta(days=day) + timedelta(minutes=draw.randrange(300))
        weights = [4 if found[name][0][0]["kind"] in ("code", "debug") else 1 for name in known]
        for question in draw.choices(known, weights, k=a_sitting):
            at = _sitting(rows, draw, found[question], bank.questions[question], at, reviewed, day)
            if len(rows["attempts"]) >= attempts:
                return rows
    while len(rows["attempts"]) < attempts:
        at = _sitting(rows, draw, found[names[0]], bank.questions[names[0]], at, reviewed, 1)
    return rows


def _sitting(
    rows: Rows,
    draw: random.Random,
    reports: list[Graded],
    question: dict[str, Any],
    at: datetime,
    reviewed: dict[str, datetime],
    day: int,
) -> datetime:
    name, began = question["id"], at
    rows["events"].append((new_uuid(), name, "served", clock.to_text(at), 1, "{}"))
    failures = 0
    while True:
        at += timedelta(seconds=draw.randrange(40, 60 * question["minutes"]))
        passes = failures > 2 or draw.random() > 0.25 + day / 800 or len(reports) == 1
        report, source = reports[0] if passes else draw.choice(reports[1:])
        uuid = new_uuid()
        rows["attempts"].append(
            (uuid, name, report["revision"], report["kind"], 1, report["verdict"], report["score"],
             json.dumps(report, sort_keys=True), source, clock.to_text(at),
             (at - began).total_seconds(), 0)
        )  # fmt: skip
        if report["verdict"] == "passed":
            break
        failures += 1
    last = reviewed.get(name)
    if last is None or at - last > schedule.ONE_SITTING:
        reviewed[name] = at
        rating = 3 if failures == 0 else 2 if failures < 3 else 1
        rows["reviews"].append((new_uuid(), name, clock.to_text(at), rating, "passed", uuid))
    return at


def seconds(command: list[str], env: dict[str, str], folder: str) -> float:
    began = time.perf_counter()
    done = subprocess.run(
        command, env=env, cwd=folder, stdin=subprocess.DEVNULL, capture_output=True
    )
    if done.returncode:
        raise SystemExit(done.stderr.decode())
    return time.perf_counter() - began


def measure(rounds: int, env: dict[str, str], folder: str) -> bool:
    """Print the table; True where a command is over its limit."""
    drill = [sys.executable, "-c", "from drills.cli import main; main()"]
    commands = {
        "drill stats": [*drill, "stats"],
        "drill stats --json": [*drill, "stats", "--json"],
        "drill list": [*drill, "list"],
        "drill next": [*drill, "next", "--json"],
    }
    report = [*drill, "report", "--out", f"{folder}/report.html"]
    baseline = [sys.executable, "-c", "import click"]
    for command in (*commands.values(), report):
        seconds(command, env, folder)  # the first one also writes the index and the byte code
    base: list[float] = []
    times: dict[str, list[float]] = {name: [] for name in commands}
    for _ in range(rounds):
        base.append(seconds(baseline, env, folder))
        for name in random.sample(list(commands), len(commands)):
            times[name].append(seconds(commands[name], env, folder))
    print(f"{'command':<26}{'ms':>6}{'ratio':>8}   (limit {STATS_LIMIT:g}, {rounds} rounds)")
    print(f"{'python -c import click':<26}{statistics.median(base) * 1000:>6.0f}{1:>8.2f}")
    over = False
    for name, found in times.items():
        ratio = statistics.median(a / b for a, b in zip(found, base, strict=True))
        over |= ratio > STATS_LIMIT and "stats" in name
        print(f"{name:<26}{statistics.median(found) * 1000:>6.0f}{ratio:>8.2f}")
    whole = statistics.median(seconds(report, env, folder) for _ in range(3))
    print(f"drill report              {whole:.2f} s   (limit {REPORT_LIMIT:g} s)")
    return over or whole > REPORT_LIMIT


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--attempts", type=int, default=10_000)
    parser.add_argument("--rounds", type=int, default=21)
    parser.add_argument("--keep", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        home = options.keep or Path(folder) / "home"
        env = {**os.environ, "DRILL_HOME": str(home), "PYTHONPATH": str(ROOT)}
        store = Store(home, print)
        if not (home / "drill.db").exists():
            bank = index.load()
            rows = history(graded(bank), options.attempts, bank)
            sizes = sorted(len(row[7]) for row in rows["attempts"])
            began = time.perf_counter()
            store.merge(rows)
            print(
                f"{len(rows['attempts'])} attempts, reports of {sizes[0]} to {sizes[-1]} bytes, "
                f"half of them over {sizes[len(sizes) // 2]}; {len(rows['reviews'])} reviews; "
                f"merged in {time.perf_counter() - began:.1f} s"
            )
        store.close()
        print(f"the database takes {(home / 'drill.db').stat().st_size / 1e6:.0f} MB")
        raise SystemExit(int(measure(options.rounds, env, folder)))


if __name__ == "__main__":
    main()
