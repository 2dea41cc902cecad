"""The proof that a question can tell right from wrong: run by the bank's check, not by a grade.

For every seed: trivial answers and every listed mistake lie at least MARGIN tolerances outside on
some case; each mistake, sent through the whole grade, is named, and nothing else is; the reference
and the honest answers pass; a debug question's shipped code shows exactly its planted bugs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from typing import Any

from torch import Tensor

from grader.judging.cases import DTYPES, BuiltCase
from grader.judging.compare import ratios
from grader.judging.family import MARGIN, Family
from grader.judging.functions import Function, invoke
from grader.judging.grade import grade
from grader.judging.oracle import Oracle, Truth
from grader.judging.planted import subsets
from grader.judging.simulated import Simulated
from grader.judging.trial import WorkerFactory
from grader.report import Report
from grader.trivial import trivial

LARGEST = 1e12
"""Stands for infinity in the table, which is JSON."""

Mistakes = Mapping[str, Mapping[str, str]]
Outputs = list[Tensor]


class Proof:
    """Findings and a table of the smallest margin of each wrong answer over the seeds."""

    def __init__(self, question: Mapping[str, Any], mistakes: Mistakes) -> None:
        self.question = question
        self.mistakes = mistakes
        self.oracle = Oracle(question)
        self.findings: list[str] = []
        self.rows: dict[str, dict[str, Any]] = {}

    def margins(self, seed: int) -> None:
        """The largest error / tolerance of every wrong answer over the cases of one seed."""
        family = Family(self.question, self.oracle)
        best: dict[str, tuple[float, str]] = {}
        for declared in self.question["cases"]:
            for dtype in declared["dtypes"]:
                case = self.oracle.draw(declared, dtype, seed)
                truth = self.oracle.truth(case)
                for answer, outputs in self._wrong(family, case, seed):
                    ratio = _ratio(outputs, truth)
                    if ratio > best.get(answer, (-1.0, ""))[0]:
                        best[answer] = ratio, f"{case.id}/{dtype}"
        for answer in family.listed:
            best.setdefault(answer, (0.0, ""))
        for answer, (ratio, case_id) in best.items():
            row = {"answer": answer, "margin": min(ratio, LARGEST), "case": case_id, "seed": seed}
            if answer not in self.rows or row["margin"] < self.rows[answer]["margin"]:
                self.rows[answer] = row

    def _wrong(
        self, family: Family, case: BuiltCase, seed: int
    ) -> Iterator[tuple[str, Outputs | None]]:
        dtype = DTYPES[case.dtype]
        for name in family.listed:
            yield name, family.run(frozenset([name]), case, dtype)
        for name, function in trivial(self.question, seed).items():
            yield f"({name})", invoke(function, case, dtype, self.oracle.framework)

    def weak(self) -> None:
        """A finding for every wrong answer that stays too close to the right one."""
        for name in self.question["mistakes"]:
            if name not in self.rows:
                self.findings.append(f"the family has no mistake `{name}`")
        for row in self.rows.values():
            if row["margin"] < MARGIN:
                self.findings.append(
                    f"`{row['answer']}` stays within {row['margin']:.3g} tolerances on every case "
                    f"(seed {row['seed']}): add a case that shows it"
                )

    def naming(self, seed: int) -> None:
        """Each mistake, and each set of planted bugs, through the whole grade."""
        family = Family(self.question, self.oracle)
        wanted = [frozenset([name]) for name in family.listed]
        wanted += [h for h in subsets(self.bugs()) if len(h) > 1]
        for hypothesis in wanted:
            report = self.simulate(family.mistaken(hypothesis), seed)
            named = {mistake.id for mistake in report.mistakes}
            if named != hypothesis:
                said = " and ".join(sorted(named)) or "nothing"
                what = " and ".join(sorted(hypothesis))
                self.findings.append(f"`{what}` is named as {said} (seed {seed})")
            self._states(report, hypothesis, seed)

    def simulate(self, function: Function, seed: int) -> Report:
        """The whole grade of a function of ours."""
        return self._grade(lambda: Simulated(function, self.question["framework"]), seed)

    def _states(self, report: Report, left: frozenset[str], seed: int) -> None:
        """Each planted bug as it is. Behind another mistake it may be that no numbers show it."""
        others = left.difference(self.bugs())
        for check in report.checks:
            if not check.id.startswith("bug/"):
                continue
            bug = check.id.removeprefix("bug/")
            right = "wrong_answer" if bug in left else "passed"
            if check.verdict != right and not (others and check.verdict == "skipped"):
                what = " and ".join(sorted(left))
                self.findings.append(
                    f"with `{what}` in the code, {check.id} is {check.verdict} (seed {seed})"
                )

    def bugs(self) -> list[str]:
        return [bug["mistake"] for bug in self.question.get("bugs", ())]

    def passes(self, what: str, factory: WorkerFactory, seed: int) -> None:
        """A right answer must pass."""
        report = self._grade(factory, seed)
        if report.verdict != "passed":
            failed = next(c for c in report.checks if c.verdict not in ("passed", "skipped"))
            self.findings.append(
                f"{what} does not pass (seed {seed}): {failed.id}: {failed.message}"
            )

    def shipped(self, factory: WorkerFactory, seed: int) -> None:
        """A starter never passes; that of a debug question shows all its bugs, and no others."""
        report = self._grade(factory, seed)
        if report.verdict == "passed":
            self.findings.append(f"the starter passes as it is (seed {seed})")
        if self.bugs():
            named = {mistake.id for mistake in report.mistakes}
            if named != set(self.bugs()):
                said = " and ".join(sorted(named)) or "nothing"
                self.findings.append(f"the shipped code is named as {said} (seed {seed})")
            self._states(report, frozenset(self.bugs()), seed)

    def _grade(self, factory: WorkerFactory, seed: int) -> Report:
        return grade(self.question, b"", seed, "", self.mistakes, factory, oracle=self.oracle)


def prove(
    question: Mapping[str, Any],
    honest: Mapping[str, bytes],
    seeds: Iterable[int],
    worker_factory: Callable[[bytes], WorkerFactory],
    mistakes: Mistakes | None = None,
) -> dict[str, Any]:
    """The proof of one question.

    `honest` holds right answers by name; they and the starter run in the workers of
    `worker_factory(source)`. Returns {"ok", "findings", "table"}: sentences, and
    for each wrong answer the smallest margin over the seeds, in tolerances.
    """
    proof = Proof(question, mistakes or {})
    for seed in seeds:
        proof.oracle = Oracle(question)  # what it keeps is of one seed
        proof.margins(seed)
        proof.naming(seed)
        reference = partial(Simulated, proof.oracle.reference, question["framework"])
        proof.passes("the reference", reference, seed)
        for name, source in honest.items():
            proof.passes(f"the right answer `{name}`", worker_factory(source), seed)
        proof.shipped(worker_factory(question["starter"].encode()), seed)
    proof.weak()
    table = sorted(proof.rows.values(), key=lambda row: float(row["margin"]))
    return {"ok": not proof.findings, "findings": proof.findings, "table": table}


def _ratio(outputs: Outputs | None, truth: Truth) -> float:
    """The largest error / tolerance; infinite where shapes differ or nothing came out."""
    right = list(truth.expected.items())
    if outputs is None or len(outputs) != len(right):
        return LARGEST
    worst = 0.0
    for value, (name, expected) in zip(outputs, right, strict=True):
        if value.shape != expected.shape:
            return LARGEST
        ratio = ratios(value, expected, truth.allowed[name])
        worst = max(worst, float(ratio.max()) if ratio.numel() else 0.0)
    return min(worst, LARGEST)
