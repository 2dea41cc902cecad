"""What the judge lets through, turns away and names, over every code question of the bank.

Usage: python benchmarks/power.py [--first N] [--seeds N] [--pairs N] [--jobs N] [--question ID ...]

Simulated: every listed mistake of each question, and pairs of them, drawn afresh for each seed, as
the implementation with switches makes them; answers that need no understanding (zeros, a constant,
noise, an input, the mean of the values). Written: the files of tests/wrong/ and tests/honest/, by
people who saw neither the references nor the switches, each in a process of its own.

Prints one table, then the confusion matrix of tests/wrong/ off its diagonal. Exits with 1 where
anything wrong is accepted or named wrongly, or anything right is rejected.
"""

from __future__ import annotations

import argparse
import collections
import random
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass, field
from functools import partial
from itertools import combinations
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from questions import index
from questions.kinds import CODE_KINDS, all_cases

TESTS = Path(__file__).resolve().parent.parent / "tests"


@dataclass
class Tally:
    """What became of one kind of submission to one question."""

    given: int = 0
    accepted: int = 0
    named: int = 0
    partly: int = 0  # one of the two was named
    misnamed: int = 0
    seconds: list[float] = field(default_factory=list)
    confused: list[tuple[str, str]] = field(default_factory=list)

    def add(self, verdict: str, wanted: set[str], names: set[str], same: bool = False) -> None:
        """`same`: what was named is, on every case, the very function that was meant."""
        self.given += 1
        self.accepted += verdict == "passed"
        self.named += bool(names) and (names == wanted or same)
        self.partly += bool(names) and not same and names < wanted
        wrong = bool(names) and not same and not names <= wanted
        self.misnamed += wrong
        if wrong or not names:
            said = " and ".join(sorted(names)) or "nothing"
            self.confused.append((" and ".join(sorted(wanted)), said))


Tallies = dict[str, Tally]


def simulated(id_: str, seeds: range, pairs: int) -> Tallies:
    """The listed mistakes, pairs of them, and trivial answers, in this process."""
    import torch

    from grader.judging.family import Family
    from grader.power import Proof
    from grader.trivial import trivial

    torch.set_num_threads(1)
    bank = index.load()
    question = bank.questions[id_]
    found = {"trivial": Tally(), "mistakes": Tally(), "pairs": Tally()}
    for seed in seeds:
        proof = Proof(question, bank.mistakes)
        family = Family(question, proof.oracle)
        for function in trivial(question, seed).values():
            report = proof.simulate(function, seed)
            found["trivial"].add(report.verdict, set(), set())
        for name in family.listed:
            report = proof.simulate(family.mistaken([name]), seed)
            found["mistakes"].add(report.verdict, {name}, {m.id for m in report.mistakes})
        for pair in _drawn(family, seed, pairs):
            report = proof.simulate(family.mistaken(pair), seed)
            names = {m.id for m in report.mistakes}
            same = names != set(pair) and any(
                _alike(family, one, set(pair), question, seed) for one in _ways(family, names)
            )
            if same and len(names) == 1:
                continue  # one hides the other: there are no two mistakes to name
            found["pairs"].add(report.verdict, set(pair), names, same)
    return found


def _drawn(family: Any, seed: int, many: int) -> list[tuple[str, str]]:
    """Pairs that can be computed together."""
    pairs = [p for p in combinations(family.listed, 2) if family.compatible(p) is not None]
    return random.Random(seed).sample(pairs, min(many, len(pairs)))


def _ways(family: Any, names: set[str]) -> list[set[str]]:
    """The mistakes, and a single one by its other readings too, of which each is the same."""
    others = [{name} for name, of in family.same.items() if names == {of}]
    return [names, *others]


def _alike(
    family: Any, names: set[str], others: set[str], question: dict[str, Any], seed: int
) -> bool:
    """Whether two sets of mistakes give the same numbers on every case."""
    import torch

    if not names or family.compatible(sorted(names)) is None:
        return False
    for declared in all_cases(question):
        case = family.oracle.draw(declared, declared["dtypes"][0], seed)
        one = family.run(frozenset(names), case, torch.float64)
        two = family.run(frozenset(others), case, torch.float64)
        if one is None or two is None:
            if one is not two:
                return False
            continue
        for a, b in zip(one, two, strict=True):
            if a.shape != b.shape or not torch.allclose(a, b, 1e-9, 1e-12, equal_nan=True):
                return False
    return True


def written(id_: str, seeds: range) -> Tallies:
    """The files of tests/wrong/ and tests/honest/, each in a process of its own."""
    from grader.session import Grader

    bank = index.load()
    question = {**bank.questions[id_], "speed": None}  # which takes seconds, and fails nobody
    found = {"wrong": Tally(), "honest": Tally()}
    with Grader() as grader:
        for kind, tally in found.items():
            for seed in seeds:
                for file in sorted((TESTS / kind / id_).glob("*.py")):
                    source = file.read_bytes()
                    started = time.perf_counter()
                    report = grader.grade(question, source, seed, file.name, bank.mistakes, None)
                    tally.seconds.append(time.perf_counter() - started)
                    names = {m.id for m in report.mistakes}
                    tally.add(report.verdict, {file.stem.partition("~")[0]}, names)
                    if kind == "honest" and report.verdict != "passed":
                        print(f"REJECTED {id_}/{file.name} seed {seed}: {report.summary}")
                    if kind == "wrong" and report.verdict == "passed":
                        print(f"ACCEPTED {id_}/{file.name} seed {seed}")
    return found


def jobs(ids: list[str], seeds: range, pairs: int) -> Iterator[tuple[str, Callable[[], Tallies]]]:
    """One job a question and kind, the longest first."""
    for id_ in ids:
        yield id_, partial(written, id_, seeds)
    for id_ in ids:
        yield id_, partial(simulated, id_, seeds, pairs)


def measure(ids: list[str], seeds: range, pairs: int, workers: int) -> dict[str, Tallies]:
    found: dict[str, Tallies] = collections.defaultdict(dict)
    with ProcessPoolExecutor(workers, get_context("spawn")) as pool:
        waiting = {pool.submit(job): id_ for id_, job in jobs(ids, seeds, pairs)}
        for done, future in enumerate(as_completed(waiting), 1):
            found[waiting[future]] |= future.result()
            print(f"{done} of {len(waiting)}: {waiting[future]}", file=sys.stderr, flush=True)
    return found


COLUMNS = (
    ("trivial", "trivial accepted"),
    ("mistakes", "mistakes named"),
    ("pairs", "pairs named"),
    ("wrong", "wrong files named"),
    ("honest", "right files rejected"),
)


BARS = {"mistakes": 0.95, "wrong": 0.95, "pairs": 0.8}


def row(id_: str, found: Tallies) -> str:
    cells = [id_]
    for kind, _ in COLUMNS:
        tally = found[kind]
        if kind in ("trivial", "honest"):
            bad = tally.accepted if kind == "trivial" else tally.given - tally.accepted
            cells.append(f"{bad} of {tally.given}")
        else:
            cells.append(f"{tally.named} of {tally.given}")
    wrong = [found[kind] for kind in ("trivial", "mistakes", "pairs", "wrong")]
    cells.append(str(sum(tally.accepted for tally in wrong)))
    cells.append(str(sum(tally.misnamed for tally in wrong)))
    seconds = found["wrong"].seconds + found["honest"].seconds
    cells.append(f"{statistics.median(seconds):.2f}" if seconds else "")
    return "| " + " | ".join(cells) + " |"


def total(found: dict[str, Tallies]) -> Tallies:
    whole: Tallies = {kind: Tally() for kind, _ in COLUMNS}
    for tallies in found.values():
        for kind, tally in tallies.items():
            mine = whole[kind]
            for name in ("given", "accepted", "named", "partly", "misnamed", "seconds"):
                setattr(mine, name, getattr(mine, name) + getattr(tally, name))
    return whole


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--pairs", type=int, default=6, help="drawn for each question and seed")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--question", action="append", help="only this one; may be repeated")
    options = parser.parse_args()
    bank = index.load()
    ids = [i for i, q in bank.questions.items() if q["kind"] in CODE_KINDS]
    ids = sorted(options.question or ids)
    seeds = range(options.first, options.first + options.seeds)
    found = measure(ids, seeds, options.pairs, options.jobs)
    heads = ["question", *(head for _, head in COLUMNS), "accepted", "misnamed", "s a grade"]
    print("| " + " | ".join(heads) + " |")
    print("|---" * len(heads) + "|")
    for id_ in ids:
        print(row(id_, found[id_]))
    whole = total(found)
    print(row("all", whole))
    print(f"\n{options.seeds} seeds. Pairs of which one was named: {whole['pairs'].partly}.")
    print("\nThe files of tests/wrong/ that were not named as what they are, and how often:\n")
    for id_ in ids:
        for (wanted, said), many in collections.Counter(found[id_]["wrong"].confused).items():
            print(f"  {id_}/{wanted}: {said} ({many})")
    bad = sum(whole[kind].accepted for kind, _ in COLUMNS if kind != "honest")
    bad += sum(tally.misnamed for tally in whole.values())
    bad += whole["honest"].given - whole["honest"].accepted
    if not options.question:  # of the whole bank so many are to be named
        bad += sum(whole[kind].named < share * whole[kind].given for kind, share in BARS.items())
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
