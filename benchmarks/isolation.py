"""What the layers of isolation cost: the same grades with and without, in pairs, in this run.

Usage: python benchmarks/isolation.py [--pairs N]
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

from grader.session import Grader
from questions import index

HONEST = Path(__file__).resolve().parent.parent / "tests" / "honest"
QUESTION = "causal-mha"
BARS = {"warm": 10.0, "cold": 50.0}  # milliseconds that the layers may add
SPREAD = 1.25  # standard errors of a mean in one of a median


def grade(grader: Grader, seed: int) -> float:
    bank = index.load()
    answer = sorted((HONEST / QUESTION).glob("*.py"))[0]
    began = time.perf_counter()
    report = grader.grade(
        bank.questions[QUESTION], answer.read_bytes(), seed, answer.name, bank.mistakes
    )
    assert report.verdict == "passed", report.summary
    return time.perf_counter() - began


def cold(highest: int) -> float:
    began = time.perf_counter()
    with Grader(highest=highest) as grader:
        grade(grader, 0)
        return time.perf_counter() - began


def tell(what: str, pairs: list[tuple[float, float]]) -> None:
    """The median of the differences, pair by pair, with its error, and of the ratios."""
    differences = [(shut - plain) * 1000 for plain, shut in pairs]
    added = statistics.median(differences)
    error = SPREAD * statistics.stdev(differences) / len(differences) ** 0.5
    ratio = statistics.median(shut / plain for plain, shut in pairs)
    bar = BARS[what.split()[0]]
    print(f"  {what:12} {added:+7.1f} ± {error:4.1f} ms   {ratio:.2f} x   (bar: {bar:.0f} ms)")


def by_turns(
    first: Callable[[], float], second: Callable[[], float], n: int
) -> tuple[float, float]:
    """One pair. Who goes first alternates: the later of two finds what the earlier one left."""
    if n % 2:
        late = second()
        return first(), late
    return first(), second()


def main() -> None:
    """Print what tiers 3 and 2 add to a cold and to a warm grade."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=20)
    pairs = parser.parse_args().pairs
    for highest in (3, 2):
        with Grader(highest=0) as plain, Grader(highest=highest) as shut:
            grade(plain, 0), grade(shut, 0)
            print(shut.policy.layers(10.0)[0])
            warm = [
                by_turns(partial(grade, plain, n), partial(grade, shut, n), n)
                for n in range(1, pairs + 1)
            ]
        colds = [by_turns(partial(cold, 0), partial(cold, highest), n) for n in range(pairs)]
        tell("warm grade", warm)
        tell("cold grade", colds)


if __name__ == "__main__":
    main()
