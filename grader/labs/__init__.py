"""Measurements on this machine: each lab has a module of its own, run in the judge's process.

What comes of the numbers is in `results`, which a run of before is enough for. Imported by the
command too, for the list of labs: no torch here.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from grader.judging.trial import WorkerFactory

QUESTIONS = 4
"""Each lab ends in as many, so that a file of answers can be checked before anything is run."""


FILE_SECONDS = 30.0
"""The limit of one call of a learner's file."""


@dataclass(frozen=True)
class Lab:
    """`entry` is the function that a learner's own file is measured by, "" where none can be;
    `problem` is the code problem that grades such a file."""

    about: str
    entry: str = ""
    problem: str = ""


LABS = {
    "quadratic": Lab("time and memory of attention against S", "attention", "attention"),
    "prefill-decode": Lab("FLOP/s, bytes/s against the roofline", "attention", "attention"),
    "gqa-intensity": Lab("FLOP per byte of a GQA decode step"),
    "softmax-saturation": Lab("what 1/sqrt(d_k) does to a softmax"),
    "online-softmax-error": Lab(
        "rounding of the blockwise softmax", "online_softmax", "online-softmax"
    ),
}


def run(
    name: str,
    seed: int,
    quick: bool,
    source: bytes | None,
    filename: str,
    factory: Callable[[bytes, str, str], WorkerFactory],
    progress: Callable[[float, str], None],
) -> dict[str, Any]:
    """Measure for one lab: {"data": what `results` makes a page of}, or {"failed": a sentence}
    where the learner's file cannot be measured.

    `source` is that file, None for the reference; `factory(source, filename, entry)` makes workers
    for it. `progress` hears the share that is done, and what comes next.
    """
    from grader.labs.setting import Setting
    from grader.labs.subject import Submission, Unmeasurable

    lab = LABS[name]
    module = import_module(f"grader.labs.{name.replace('-', '_')}")
    try:
        if source is None:
            data = module.measure(Setting(seed, quick, progress))
        else:
            with Submission(lab.entry, lab.problem, source, filename, factory) as subject:
                data = module.measure(Setting(seed, quick, progress, subject))
    except Unmeasurable as error:
        return {"failed": str(error)}
    return {"data": data}
