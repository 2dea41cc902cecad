"""How long a learner waits for a problem: each serving command against `python -c "import click"`.

Run it as `python benchmarks/startup.py [ROUNDS]`. Every round runs the baseline and each command
once, in a new order, so that a busy machine slows all alike; the ratio is the median over rounds
of command / baseline within one round.
"""

from __future__ import annotations

import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
LIMIT = 3.0  # times the baseline
BASELINE = [sys.executable, "-c", "import click"]
COMMANDS = {
    "drill next": ["next"],
    "drill show": ["show", "kv-cache-size"],
    "drill list": ["list"],
    "drill stats": ["stats"],
    "drill answer (compute)": ["answer", "kv-cache-size", "3 GB"],
}


def seconds(command: list[str], env: dict[str, str], folder: str) -> float:
    began = time.perf_counter()
    done = subprocess.run(
        command, env=env, cwd=folder, stdin=subprocess.DEVNULL, capture_output=True
    )
    if done.returncode not in (0, 1):
        raise SystemExit(done.stderr.decode())
    return time.perf_counter() - began


def main() -> None:
    """Print one table; exit 1 where a command is over the limit."""
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 21
    with tempfile.TemporaryDirectory() as folder:
        env = {**os.environ, "DRILL_HOME": f"{folder}/home", "PYTHONPATH": str(ROOT)}
        # As the console script does; `-m` would add what runpy costs.
        drill = [sys.executable, "-c", "from drills.cli import main; main()"]
        for warm_up in COMMANDS.values():
            seconds([*drill, *warm_up], env, folder)
        baseline: list[float] = []
        ratios: dict[str, list[float]] = {name: [] for name in COMMANDS}
        times: dict[str, list[float]] = {name: [] for name in COMMANDS}
        for _ in range(rounds):
            base = seconds(BASELINE, env, folder)
            baseline.append(base)
            for name in random.sample(list(COMMANDS), len(COMMANDS)):
                taken = seconds([*drill, *COMMANDS[name]], env, folder)
                times[name].append(taken)
                ratios[name].append(taken / base)
    print(f"{'command':<26}{'ms':>6}{'ratio':>8}   (limit {LIMIT:g}, {rounds} rounds)")
    print(f"{'python -c import click':<26}{statistics.median(baseline) * 1000:>6.0f}{1:>8.2f}")
    over = False
    for name, found in ratios.items():
        ratio = statistics.median(found)
        over |= ratio > LIMIT
        mark = "   over the limit" if ratio > LIMIT else ""
        print(f"{name:<26}{statistics.median(times[name]) * 1000:>6.0f}{ratio:>8.2f}{mark}")
    raise SystemExit(int(over))


if __name__ == "__main__":
    main()
