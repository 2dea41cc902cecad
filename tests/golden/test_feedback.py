"""Whole reports as a learner reads them: real submissions, in real processes, with a fixed seed.

Each file feedback/<question>--<what>.txt is the plain report at 80 columns. The submission is
submissions/<question>--<what>.py, or the shipped code of a debug question, changed as MENDED says.
After a change that is meant:

    UPDATE_GOLDEN=1 python -m pytest tests/golden

and read the difference. What another machine may give otherwise is masked: seconds, and the
tolerance, which is measured there. No isolation line: which layers are on depends on the machine.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from drills.screen.report import next_actions, report_lines
from drills.submit import Outcome
from grader.report import Report
from grader.session import Grader
from questions.index import Index, load

HERE = Path(__file__).resolve().parent
GOLDEN, SUBMISSIONS = HERE / "feedback", HERE / "submissions"
ROOT = HERE.parent.parent
SEED = 4821
UPDATE = bool(os.environ.get("UPDATE_GOLDEN"))

ONLY = {"causal-mask--either-of-two": "short-chunk"}  # as with --case

LIMITS = {"causal-mask--endless": 0.3}  # seconds

MENDED: dict[str, tuple[tuple[str, str], ...]] = {
    "debug-attention--as-shipped": (),
    "debug-block--as-shipped": (),
    "debug-flash--as-shipped": (),
    "debug-gqa-rope--as-shipped": (),
    "debug-padding--as-shipped": (),
    "debug-block--one-bug-mended": (
        ("v = rotate(split_heads(x @ w_v.T, n_kv_heads), positions, base)",
         "v = split_heads(x @ w_v.T, n_kv_heads)"),
    ),
    "debug-block--one-bug-left": (
        ("v = rotate(split_heads(x @ w_v.T, n_kv_heads), positions, base)",
         "v = split_heads(x @ w_v.T, n_kv_heads)"),
        ("x.repeat(1, n_heads // x.shape[1], 1, 1)",
         "x.repeat_interleave(n_heads // x.shape[1], 1)"),
    ),
    "debug-block--mended-and-another-made": (
        ("v = rotate(split_heads(x @ w_v.T, n_kv_heads), positions, base)",
         "v = split_heads(x @ w_v.T, n_kv_heads)"),
        ("x.repeat(1, n_heads // x.shape[1], 1, 1)",
         "x.repeat_interleave(n_heads // x.shape[1], 1)"),
        (" / math.sqrt(d_head)", ""),
    ),
    "debug-block--mended-and-mask-moved": (
        ("v = rotate(split_heads(x @ w_v.T, n_kv_heads), positions, base)",
         "v = split_heads(x @ w_v.T, n_kv_heads)"),
        ("x.repeat(1, n_heads // x.shape[1], 1, 1)",
         "x.repeat_interleave(n_heads // x.shape[1], 1)"),
        ("math.sqrt(d_head)", "math.sqrt(q.shape[-1])"),
        ("triu(1)", "triu(2)"),
    ),
    "debug-padding--one-replaced": (
        ("[:, None, :, None]", "[:, None, None, :]"),
        ("1e-9", 'float("-inf")'),
    ),
}  # fmt: skip


def names() -> list[str]:
    return sorted([*MENDED, *(path.stem for path in SUBMISSIONS.glob("*.py"))])


def source(name: str, bank: Index) -> str:
    if name in MENDED:
        text = str(bank.questions[name.partition("--")[0]]["starter"])
        for old, new in MENDED[name]:
            assert text.count(old) == 1, old
            text = text.replace(old, new)
        return text
    return (SUBMISSIONS / f"{name}.py").read_text()


class Reports:
    """Each submission is graded once, by one warm grader."""

    def __init__(self, grader: Grader, bank: Index) -> None:
        self.grader, self.bank = grader, bank
        self.known: dict[str, Report] = {}

    def __getitem__(self, name: str) -> Report:
        if name not in self.known:
            question = self.bank.questions[name.partition("--")[0]]
            if name in LIMITS:
                question = {**question, "seconds": LIMITS[name]}
            self.known[name] = self.grader.grade(
                question,
                source(name, self.bank).encode(),
                SEED,
                f"{module(name)}.py",
                self.bank.mistakes,
                ONLY.get(name),
            )
        return self.known[name]


def module(name: str) -> str:
    return name.partition("--")[0].replace("-", "_")


@pytest.fixture(scope="module")
def reports() -> Iterator[Reports]:
    with Grader() as grader:
        yield Reports(grader, load())


def shown(report: Report, path: str) -> str:
    outcome = Outcome(replace(report, isolation=()), path=path)
    lines = [*report_lines(outcome, 80), *next_actions(outcome, 80)]
    text = "\n".join(line.plain for line in lines)
    text = re.sub(r"(?<=allowed )±[\d.e+-]+\d", "±…", text)
    return re.sub(r"(?m)\d+\.\d s(?= · seed \d+$)", "_._ s", text) + "\n"


@pytest.mark.parametrize("name", names())
def test_the_whole_report_reads_as_it_did(name: str, reports: Reports) -> None:
    sample, path = reports[name].sample, GOLDEN / f"{name}.txt"
    text = shown(reports[name], f"{module(name)}.py")
    if UPDATE:
        path.write_text(text)
    assert text == path.read_text()
    code = sample.code if sample else ()
    assert len(code) <= 3
    for line in text.splitlines():
        assert len(line) <= (100 if line in code else 80) or line.lstrip().startswith("Try it"), (
            line
        )
        assert line == line.rstrip()
    assert Report.from_json(json.loads(json.dumps(reports[name].to_json()))) == reports[name]


def test_each_report_in_the_folder_is_that_of_a_submission() -> None:
    assert sorted(path.stem for path in GOLDEN.glob("*.txt")) == names()


RUNNER = """
import contextlib, io, json, sys, pathlib
jobs = json.load(sys.stdin)
for job in jobs:
    said = []
    for text in (job["submission"], job["reference"]):
        pathlib.Path(job["module"] + ".py").write_text(text)
        sys.modules.pop(job["module"], None)
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            try:
                exec("\\n".join(job["code"]), {})
            except Exception as error:
                print(f"{type(error).__name__}: {error}")
        said.append(out.getvalue().strip())
    job["said"] = said
json.dump(jobs, sys.stdout)
"""


def test_what_is_said_of_the_pasted_lines_is_what_they_do(reports: Reports, tmp_path: Path) -> None:
    """Run beside the submission they print what the report shows; beside the reference, what it
    calls expected."""
    jobs = []
    for name in names():
        sample = reports[name].sample
        if sample is None or not sample.code:
            continue
        question = reports.bank.questions[name.partition("--")[0]]
        package, _, function = question["reference"].rpartition(".")
        jobs.append({
            "name": name,
            "module": module(name),
            "code": sample.code,
            "submission": source(name, reports.bank),
            "reference": f"from {package} import {function} as {question['entry']}\n",
        })  # fmt: skip
    assert len(jobs) > len(names()) // 2
    done = subprocess.run(
        [sys.executable, "-B", "-c", RUNNER],
        input=json.dumps(jobs),
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": f"{ROOT}", "OMP_NUM_THREADS": "1"},
        check=True,
    )
    for job in json.loads(done.stdout):
        sample = reports[job["name"]].sample
        assert sample is not None
        yours, right = job["said"]
        if sample.verb == "raises":
            yours = " ".join(yours.split())
        assert alike(yours, sample.shown), job["name"]
        if sample.verb == "prints" and " or " not in sample.expected:
            assert alike(right, sample.expected), job["name"]


def alike(one: str, other: str) -> bool:
    """The same text, but for one unit in the last place of a number: another process may sum in
    another order, and a number that lies between two of four decimals then prints as either."""
    number = re.compile(r"-?\d+\.\d*(?:e[+-]\d+)?")
    if number.sub("#", one) != number.sub("#", other):
        return one == other
    pairs = zip(number.findall(one), number.findall(other), strict=True)
    return all(abs(float(a) - float(b)) <= 1.1e-4 * max(1.0, abs(float(a))) for a, b in pairs)


def test_a_report_from_before_there_were_samples_is_still_read(reports: Reports) -> None:
    data = reports["attention--scale-none"].to_json()
    assert data["sample"]["code"]
    del data["sample"]
    assert Report.from_json(data).sample is None
