"""Checks of what questions say, beyond their form: what can be told without running anything.

`check` reads the bank, then looks at each question: does the starter define the function, are all
sizes computable in every case, do ids and placeholders name something. References are looked up
in the source of `reference`, never imported: most of them need torch.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from math import prod
from pathlib import Path
from typing import Any

from questions.content_code import LARGEST_TENSOR, check_code, once
from questions.content_kernel import check_kernel
from questions.document import Document, Path_
from questions.findings import BankError, Finding
from questions.follow_ups import of_itself
from questions.kinds import CODE_KINDS
from questions.loader import (
    DEFAULT_ROOT,
    MISTAKES,
    Entry,
    load_entry,
    question_files,
    read_bank,
)
from questions.patterns import is_endless
from questions.sources import Sources

__all__ = ["check"]

_PLACEHOLDER = re.compile(r"\{([A-Za-z_][A-Za-z0-9_]*)\}")


def check(root: Path | str = DEFAULT_ROOT) -> list[Finding]:
    """Every finding about the bank below `root`, or about one question file, in order."""
    root = Path(root)
    if not root.is_file():
        bank = read_bank(root)
        findings = [*bank.findings, *_strays(root)]
        entries = list(bank.entries.values())
    else:
        findings, entries = _one(root)
    sources = Sources()
    for entry in entries:
        findings.extend(check_entry(entry, sources))
    return sorted(set(findings))


def _one(path: Path) -> tuple[list[Finding], list[Entry]]:
    """The findings about one file, those against the rest of its bank among them."""
    try:
        entry = load_entry(path)
    except BankError as error:
        return error.findings, []
    root = path.absolute().parent.parent
    if not (root / MISTAKES).is_dir():
        return list(of_itself(entry.question, entry.document)), [entry]
    here = path.resolve()
    findings = [f for f in read_bank(root).findings if Path(f.path).resolve() == here]
    return [Finding(str(path), f.line, f.column, f.message) for f in findings], [entry]


def _strays(root: Path) -> Iterator[Finding]:
    """Files in topic folders that no loader would read."""
    if not root.is_dir():
        return
    topics = {file.parent for file in question_files(root)}
    for path in sorted(root.glob("*/*")):
        if path.name.startswith(".") or path.name == "__pycache__":
            continue
        misnamed = path.suffix.lower() in (".yml", ".yaml") and path.suffix != ".yaml"
        if misnamed or (path.parent in topics and path.suffix != ".yaml"):
            remedy = "rename it to .yaml" if misnamed else "move it elsewhere"
            yield Finding(str(path), 1, 1, f"this is no question, yet in a topic folder: {remedy}")


def check_entry(entry: Entry, sources: Sources) -> Iterator[Finding]:
    """The findings about one question."""
    question, document = entry.question, entry.document
    yield from _common(question, document)
    yield from _dotted(question, document, sources)
    if question.kind in CODE_KINDS:
        yield from check_code(question, document)
        if question.kind == "kernel":
            yield from check_kernel(question, document)
    elif question.kind == "compute":
        yield from _compute(question, document, sources)
    elif question.kind == "derive":
        yield from _derive(question, document)
    elif question.kind == "trace":
        yield from _trace(question, document)
    elif question.kind == "choice":
        yield from _choice(question, document)
    else:
        yield from _explain(question, document)


def _common(question: Any, document: Document) -> Iterator[Finding]:
    yield from once(document, ("follows",), question.follows)
    yield from once(document, ("hints",), [hint.strip() for hint in question.hints])
    for i, revision in enumerate(question.revisions):
        if revision.number != i + 2:
            message = f"revisions count 2, 3, ... in order: this one is number {i + 2}"
            yield document.finding(("revisions", i, "number"), message)


def _dotted(question: Any, document: Document, sources: Sources) -> Iterator[Finding]:
    """Names below `reference.` that its source does not define."""
    names: list[tuple[Path_, str]] = []
    if question.kind in CODE_KINDS:
        names = [(("reference",), question.reference), (("family",), question.family)]
        names += [(("baselines", i), name) for i, name in enumerate(question.baselines)]
        if question.kind == "kernel":
            speed = question.speed
            names += [(("speed", "naive"), speed.naive), (("speed", "fused"), speed.fused)]
    elif question.kind == "compute":
        names = [(("formula",), question.formula)]
    elif question.kind == "trace":
        names = [(("reference",), question.reference)]
        names += [
            (("mistakes", i, "reference"), m.reference) for i, m in enumerate(question.mistakes)
        ]
    for place, name in names:
        if not sources.defines(name):
            yield document.finding(place, f"`{name}` is not defined: see reference/ for what is")


def _compute(question: Any, document: Document, sources: Sources) -> Iterator[Finding]:
    model, draw = question.parameters.model, question.parameters.draw
    # A question that draws a model gets the model's name too.
    drawn = set(draw) | ({*model.take, "model"} if model else set())
    if not drawn:
        yield document.finding(("parameters",), "no parameters are drawn: give `draw` or `model`")
    for name, values in draw.items():
        place: Path_ = ("parameters", "draw", name)
        if not values:
            yield document.finding(place, f"`{name}` has no values to draw from: give some")
        yield from once(document, place, [str(v) for v in values])
        if model and name in {*model.take, "model"}:
            yield document.finding(place, f"`{name}` comes from the model too: keep one of the two")
    if model:
        yield from _models(model, document, sources)
    missing = sorted(sources.required(question.formula) - drawn)
    if missing:
        message = f"the formula needs `{'`, `'.join(missing)}`, not among the parameters: add it"
        yield document.finding(("parameters",), message)
    texts: list[tuple[Path_, str]] = [
        ((key,), getattr(question, key)) for key in ("prompt", "asks", "working")
    ]
    texts += [(("hints", i), hint) for i, hint in enumerate(question.hints)]
    texts += [(("explanation",), question.explanation)]
    for where, text in texts:
        for i, line in enumerate(text.split("\n")):
            for name in dict.fromkeys(_PLACEHOLDER.findall(line)):
                if name not in drawn:
                    message = (
                        f"`{{{name}}}` is no parameter: take one of {', '.join(sorted(drawn))}"
                    )
                    yield document.line_of(where, i + 1, message)
    yield from once(document, ("mistakes",), question.mistakes)
    for i, mistake in enumerate(question.mistakes):
        name = f"reference.mistakes.counting.{mistake.replace('-', '_')}"
        if not sources.defines(name):
            yield document.finding(("mistakes", i), f"`{mistake}` needs {name}, which is not there")


def _models(model: Any, document: Document, sources: Sources) -> Iterator[Finding]:
    table = sources.models()
    columns = set(next(iter(table.values()), {}))
    yield from once(document, ("parameters", "model", "names"), model.names)
    for parameter, column in model.take.items():
        if column not in columns:
            message = f"`{column}` is no column: take one of {', '.join(sorted(columns))}"
            yield document.finding(("parameters", "model", "take", parameter), message)
    for i, name in enumerate(model.names):
        place = ("parameters", "model", "names", i)
        if name not in table:
            yield document.finding(place, f"`{name}` is no model of reference/models.tsv")
            continue
        for column in model.take.values():
            cell = table[name].get(column, "0")
            if column not in ("model", "attention") and not cell.isdigit():
                message = f"`{name}` has no number for {column} ({cell}): leave this model out"
                yield document.finding(place, message)


def _derive(question: Any, document: Document) -> Iterator[Finding]:
    yield from once(document, ("steps",), [step.id for step in question.steps], "id")
    for i, step in enumerate(question.steps):
        place = ("steps", i, "mistakes")
        yield from once(document, place, [wrong.id for wrong in step.mistakes], "id")


def _trace(question: Any, document: Document) -> Iterator[Finding]:
    parts = {part.id for part in question.parts}
    yield from once(document, ("parts",), [part.id for part in question.parts], "id")
    yield from once(document, ("mistakes",), [m.id for m in question.mistakes], "id")
    for i, part in enumerate(question.parts):
        if not part.shape or min(part.shape) < 1:
            message = f"`{part.id}` needs a shape of positive sizes such as [3, 2]"
            yield document.finding(("parts", i, "shape"), message)
        elif prod(part.shape) > LARGEST_TENSOR:
            message = f"`{part.id}` holds {prod(part.shape)} numbers: make it smaller"
            yield document.finding(("parts", i, "shape"), message)
    for i, mistake in enumerate(question.mistakes):
        if mistake.part not in parts:
            message = f"`{mistake.part}` is no part: take one of {', '.join(sorted(parts))}"
            yield document.finding(("mistakes", i, "part"), message)


def _choice(question: Any, document: Document) -> Iterator[Finding]:
    yield from once(document, ("options",), [option.id for option in question.options], "id")
    right = sum(option.correct for option in question.options)
    if not question.several and right != 1:
        message = f"{right} options are correct, of exactly one: mend it, or set `several: true`"
        yield document.finding(("options",), message)
    elif right == 0:
        yield document.finding(("options",), "no option is correct: mark those that are")


def _explain(question: Any, document: Document) -> Iterator[Finding]:
    yield from once(document, ("key_points",), [p.id for p in question.key_points], "id")
    yield from once(document, ("wrong_claims",), [c.id for c in question.wrong_claims], "id")
    groups: list[tuple[str, Any, tuple[str, str]]] = [
        ("key_points", question.key_points, ("says", "hints_at"))
    ]
    groups += [("wrong_claims", question.wrong_claims, ("says", "unless"))]
    for group, items, fields in groups:
        for i, item in enumerate(items):
            for key in fields:
                for j, pattern in enumerate(getattr(item, key)):
                    try:
                        re.compile(pattern)
                    except (re.error, RecursionError, OverflowError) as error:
                        message = f"this pattern cannot be read: {error}"
                        yield document.finding((group, i, key, j), message)
                        continue
                    if is_endless(pattern):
                        message = "this pattern takes too long on some texts: repeat less in it"
                        yield document.finding((group, i, key, j), message)
                        return  # each more would take its time
