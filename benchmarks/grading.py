"""How long a grade takes, as ratios within this run: cold against `import torch`, and warm.

Usage: python benchmarks/grading.py [--runs N]
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from grader.session import Grader
from questions import index

HONEST = Path(__file__).resolve().parent.parent / "tests" / "honest"
QUESTION = "causal-mha"


def seconds(command: list[str], env: dict[str, str]) -> float:
    started = time.perf_counter()
    subprocess.run(command, env=env, capture_output=True, check=True)
    return time.perf_counter() - started


def cold(runs: int, answer: Path) -> None:
    with tempfile.TemporaryDirectory() as home:
        env = {**os.environ, "DRILL_HOME": home}
        grade = [sys.executable, "-m", "drills.cli", "grade", QUESTION, str(answer)]
        torch = [sys.executable, "-c", "import torch"]
        seconds(grade, env)  # the first one also writes the index and the byte code
        pairs = [(seconds(torch, env), seconds(grade, env)) for _ in range(runs)]
    base = statistics.median(a for a, _ in pairs)
    whole = statistics.median(b for _, b in pairs)
    extra = statistics.median(b - a for a, b in pairs)
    print(f"import torch                      {base:6.2f} s")
    print(f"drill grade {QUESTION}, cold    {whole:6.2f} s   {whole / base:.2f} x")
    print(f"  beyond import torch             {extra:6.2f} s   (bar: 1.0 s)")


def warm(runs: int) -> None:
    bank = index.load()
    print("\nwarm grades in one process (bar for causal-mha: 0.3 s)")
    with Grader() as grader:
        for folder in sorted(p for p in HONEST.iterdir() if p.is_dir()):
            question = bank.questions[folder.name]
            answer = sorted(folder.glob("*.py"))[0]
            times = []
            for seed in range(runs + 1):
                started = time.perf_counter()
                report = grader.grade(
                    question, answer.read_bytes(), seed, answer.name, bank.mistakes, None
                )
                times.append(time.perf_counter() - started)
                assert report.verdict == "passed", (folder.name, report.summary)
            print(f"  {folder.name:24} {statistics.median(times[1:]):6.3f} s")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=5)
    runs = parser.parse_args().runs
    cold(runs, sorted((HONEST / QUESTION).glob("*.py"))[0])
    warm(runs)


if __name__ == "__main__":
    main()
