"""One submission in, one report out."""

from __future__ import annotations

import secrets
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from grader.feedback.words import clean, say
from grader.isolation.calls import Outcome
from grader.judging import place
from grader.judging.answers import Answer
from grader.judging.cases import find
from grader.judging.checks import Checks
from grader.judging.cost_checks import cost_checks, notes, totals
from grader.judging.costs import Scales
from grader.judging.device_stages import DeviceStages, absent, on_cuda
from grader.judging.family import Family
from grader.judging.kernel_stages import Stages
from grader.judging.kernels import interpreted
from grader.judging.locate import locate
from grader.judging.naming import Named, name
from grader.judging.oracle import Oracle
from grader.judging.planted import gone, planted
from grader.judging.probes import Fact, Prober, all_zero, conditions, scale, small_errors
from grader.judging.refusals import Refusals
from grader.judging.sample import Sampler
from grader.judging.speed import Others
from grader.judging.trial import Conductor, Slopes, Timed, Trial, Worker, WorkerFactory
from grader.judging.verdicts import of_outcome, of_run
from grader.report import Check, Device, NamedMistake, Report, Where
from questions.text import fill

PRINTED = 16 * 1024


@dataclass
class Finding:
    """What the wrong values say: mistakes, facts, and for a debug question the bugs' state."""

    named: Named = field(default_factory=Named)
    facts: list[Fact] = field(default_factory=list)
    mended: dict[str, bool | None] = field(default_factory=dict)


def grade(
    question: Mapping[str, Any],
    source: bytes,
    seed: int | None,
    filename: str,
    mistakes: Mapping[str, Mapping[str, str]],
    worker_factory: WorkerFactory,
    only_case: str | None = None,
    oracle: Oracle | None = None,
    device: Device = "cpu",
    others: Others | None = None,
) -> Report:
    """Judge one submission.

    `worker_factory` gives a fresh worker that holds `source`; it is asked for a second one to
    repeat the calls. `mistakes` holds the texts by id. Raises ValueError where `only_case` is not
    a case of the question. A kernel is judged on one `device`, and its speed is measured against
    workers of `others`, where they are given. An `oracle` of the question may be handed on; else
    the last one serves again where it is of the same question and seed.
    """
    del source  # the worker has the text; nothing here may read it
    started = time.perf_counter()
    seed = secrets.randbits(31) if seed is None else seed
    if device == "interpret":
        question = interpreted(question)
    elif device == "cuda":
        question = on_cuda(question)
    oracle = oracle or _remembered(question, seed)
    cases = [find(question, only_case)] if only_case else list(question["cases"])
    worker_factory = refusals = Refusals(worker_factory)
    conductor = Conductor(question, cases, oracle, seed, worker_factory)
    finding, sample, facts = Finding(), None, list[Fact]()
    kernel: Stages | None = None
    if question["kind"] == "kernel" and not only_case:
        if device == "cuda":
            kernel = DeviceStages(question, oracle, seed, worker_factory, others)
        else:
            kernel = Stages(question, oracle, seed, worker_factory, device, others)
    with worker_factory() as worker:
        loaded = worker.load()
        if loaded.status == "no-device":
            return _without_device(question, seed, loaded)
        trial = Trial(loaded)
        if loaded.stdout:
            trial.printed.append(loaded.stdout)
        if loaded.status == "returned":
            for stage in (conductor.values, conductor.gradients, conductor.repeat):
                if not trial.stopped:
                    stage(worker, trial)
            if kernel is not None:
                kernel.shapes(worker, trial)
            spare = conductor.spare(trial)
            timed = Timed(worker, spare)
            finding = _explain(question, conductor, oracle, timed, trial)
            # What is no file of a learner's is not tried out; lines for a device are not told.
            if filename and device != "cuda":
                sampler = Sampler(question, oracle, timed, trial, filename, worker_factory, spare)
                sample, facts = sampler.sample(), sampler.facts
    checks = Checks(question, cases, trial)
    found = checks.all()
    if kernel is not None:
        found += kernel.shape_checks(trial)
    declared = () if only_case else question.get("costs", ())
    if declared and all(check.verdict == "passed" for check in found):
        trial.costs = Scales(question, oracle, seed, worker_factory).all()
    if declared:
        found += cost_checks(checks, declared, trial.costs)
    if kernel is not None:
        found += kernel.cost_checks(all(check.verdict == "passed" for check in found))
    if question["kind"] == "debug":
        bugs = _bugs(question, finding, mistakes)
        # A single case need not show every bug, and is not asked about those it does not.
        found += [bug for bug in bugs if not (only_case and bug.verdict == "skipped")]
    verdict = of_run(check.verdict for check in found)
    if verdict == "wrong_answer" and finding.mended and all(finding.mended.values()):
        finding.facts.insert(0, Fact("bugs-gone", {"count": len(finding.mended)}))
    where = None if verdict == "passed" else place.where(checks, trial, verdict)
    named = [_named(id_, mistakes, where) for id_ in finding.named.mistakes]
    graded = [check for check in found if check.verdict != "not_run"]
    passed = sum(check.verdict == "passed" for check in graded)
    usual = oracle.usual_seconds(answer.case for answer in trial.answers.values())
    return Report(
        question=question["id"],
        kind=question["kind"],
        verdict=verdict,
        score=passed / len(graded) if loaded.status == "returned" else 0.0,
        seed=seed,
        summary=_summary(verdict, found, named, trial, where),
        checks=tuple(found),
        mistakes=tuple(named),
        where=where,
        certain=tuple(_said(fact, mistakes) for fact in [*finding.facts, *facts]),
        notes=(*_notes(refusals, trial), *(kernel.notes() if kernel else ())),
        traceback=_traceback(trial),
        output=_printed(trial.printed),
        costs=totals(trial.seconds, usual, trial.costs),
        seconds=time.perf_counter() - started,
        revision=question.get("revision", 1),
        sample=sample,
        device=device,
        growth=kernel.growth if kernel else (),
        operations=kernel.operations if kernel else None,
        speed=kernel.speed if kernel else None,
        paths=kernel.paths if kernel else None,
    )


def _without_device(question: Mapping[str, Any], seed: int, loaded: Outcome) -> Report:
    """Nothing was run: its device did not start."""
    check = absent(loaded)
    summary = f"Not run: {check.message}."
    return Report(
        question=question["id"],
        kind=question["kind"],
        verdict="not_run",
        score=0.0,
        seed=seed,
        summary=summary,
        checks=(check,),
        revision=question.get("revision", 1),
        device="cuda",
    )


_last: list[tuple[Mapping[str, Any], int, Oracle]] = []


def _remembered(question: Mapping[str, Any], seed: int) -> Oracle:
    """The last oracle where it is of the same question and seed: a class has one seed for all."""
    if not _last or _last[0][:2] != (question, seed):
        _last[:] = [(question, seed, Oracle(question))]
    return _last[0][2]


def _explain(
    question: Mapping[str, Any],
    conductor: Conductor,
    oracle: Oracle,
    worker: Worker,
    trial: Trial,
) -> Finding:
    """Name the mistake; where none fits, ask the probes."""
    answers = list(trial.answers.values())
    wrong = any(answer.differences for answer in answers)
    bugs = [bug["mistake"] for bug in question.get("bugs", ())]
    finding = Finding()
    if not wrong:
        if bugs:
            finding.mended = gone(Family(question, oracle), bugs, answers)
        finding.facts = _gradient_facts(list(trial.slopes.values()))
        return finding
    steady = trial.repetition is not None and not trial.repetition.how
    if trial.repetition is not None and trial.repetition.how in ("differs", "depends"):
        return finding  # numbers that hang on more than the arguments single nothing out
    family = Family(question, oracle)
    alive = not trial.stopped

    def more(n: int) -> Sequence[Answer]:
        return conductor.more(worker, n) if alive else ()

    @cache
    def shapes() -> Sequence[Answer]:
        """Of the matrix, where wrong cases kept it from being called."""
        support = [s for s in question.get("support", ()) if s["id"] not in trial.answers]
        return conductor.of(support).more(worker, 0) if alive and support else ()

    if bugs:
        finding.mended, finding.named = planted(family, bugs, answers, more)
    else:
        finding.named = name(family, answers, more, shapes)
    if finding.named.either:
        finding.facts = [Fact("either", {"ids": finding.named.either})]
    if not finding.named.mistakes and not finding.named.either and steady:
        scaled = scale(answers, oracle)
        finding.facts = [
            *([scaled] if scaled else _largest_pattern(question, answers)),
            *small_errors(answers, oracle),
            *conditions(answers),
            *Prober(question, oracle, worker, answers).facts(),
        ]
        if all_zero(answers):  # zeros keep most laws, and that is no news
            finding.facts = [Fact("all-zero")]
    return finding


def _largest_pattern(question: Mapping[str, Any], answers: Sequence[Answer]) -> list[Fact]:
    """Where the largest wrong case is wrong: regular patterns need room to show."""
    wrong = [a for a in answers if a.differences and a.case.dtype == "float32"]
    if len(wrong) < 2:
        return []
    largest = max(wrong, key=lambda a: a.case.entries())
    found = largest.differences[0]
    pattern = locate(found.wrong, tuple(question["axes"].get(found.name, ())))
    if not pattern or pattern == "everywhere":
        return []
    return [Fact("pattern", {"pattern": pattern, "title": largest.case.title})]


def _gradient_facts(slopes: Sequence[Slopes]) -> list[Fact]:
    """What every failing case says of the gradient, where the values are right."""
    failing = [s for s in slopes if not s.right and s.outcome.status == "returned"]
    found = []
    for template, names in (
        ("graph-cut", [s.unreached for s in failing]),
        ("flat", [s.zero for s in failing]),
    ):
        first = names[0] if names else ()
        common = [name for name in first if all(name in others for others in names)]
        if common and len(common) < len(first):  # else the first failure says as much
            found.append(Fact(template, {"names": ", ".join(common)}))
    return found


def _bugs(
    question: Mapping[str, Any], finding: Finding, mistakes: Mapping[str, Mapping[str, str]]
) -> list[Check]:
    """One check a planted bug: mended, still there, or not to be told."""
    checks = []
    for bug in question["bugs"]:
        id_ = bug["mistake"]
        mended = finding.mended.get(id_)
        title = mistakes.get(id_, {}).get("title", id_)
        message = "" if mended else say("bug", mended=mended, name=title)
        verdict = "skipped" if mended is None else "passed" if mended else "wrong_answer"
        checks.append(Check(f"bug/{id_}", verdict, message, title))  # type: ignore[arg-type]
    return checks


def _named(
    id_: str, mistakes: Mapping[str, Mapping[str, str]], where: Where | None
) -> NamedMistake:
    text = mistakes.get(id_, {})
    sizes: dict[str, int] = dict(where.sizes) if where else {}
    if "D" not in sizes and {"d", "H"} <= sizes.keys() and sizes["d"] % sizes["H"] == 0:
        sizes["D"] = sizes["d"] // sizes["H"]
    return NamedMistake(
        id_,
        fill(text.get("title", id_), sizes),
        fill(text.get("explanation", ""), sizes),
        fill(text.get("hint", ""), sizes),
    )


def _said(fact: Fact, mistakes: Mapping[str, Mapping[str, str]]) -> str:
    values = dict(fact.values)
    if "ids" in values:
        values["names"] = [mistakes.get(i, {}).get("title", i) for i in values.pop("ids")]
    return say("probes", fact=fact.template, **values)


def _summary(
    verdict: str,
    checks: Sequence[Check],
    named: Sequence[NamedMistake],
    trial: Trial,
    where: Where | None,
) -> str:
    if verdict == "passed":
        return f"all {sum(c.verdict == 'passed' for c in checks)} checks passed"
    judged = [a for a in trial.answers.values() if a.outputs is not None]
    # What the call does to its inputs, or keeps from call to call, explains the other failures.
    first = sorted(checks, key=lambda c: c.id not in ("inputs-untouched", "repeatable"))
    gravest = next(check for check in first if check.verdict == verdict)
    rooted = gravest.id in ("inputs-untouched", "repeatable")
    return say(
        "summary",
        verdict=verdict,
        mistakes=[m.title for m in named],
        cases=0 if rooted else sum(bool(a.differences) for a in judged),
        total=len(judged),
        title=where.case_title if where else "",
        message=gravest.message,
    )


def _traceback(trial: Trial) -> str:
    """The learner's own lines of the first exception."""
    outcomes = [trial.loaded, *(a.outcome for a in trial.answers.values())]
    outcomes += [s.outcome for s in trial.slopes.values()]
    if trial.repetition is not None and trial.repetition.outcome is not None:
        outcomes.append(trial.repetition.outcome)
    outcomes += [one.outcome for one in trial.costs if one.outcome is not None]
    raised = next((o for o in outcomes if of_outcome(o) != "passed" and o.traceback), None)
    return clean(raised.traceback, 4000) if raised else ""


def _notes(refusals: Refusals, trial: Trial) -> tuple[str, ...]:
    told = [say("denied", note=what) for what in refusals.survived]
    return (*told, *notes(trial.costs))


def _printed(parts: Sequence[str]) -> str:
    """The first and the last of what was printed."""
    whole = clean("".join(parts), 1 << 20)
    if len(whole) <= PRINTED:
        return whole
    half = PRINTED // 2
    return f"{whole[:half]}\n…\n{whole[-half:]}"
