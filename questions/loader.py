"""Reads question files, strictly: every finding carries its file, line and column.

Serving does not come here: it reads the index, which imports neither YAML nor pydantic.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from questions.document import Document, Path_, read
from questions.findings import BankError, Finding
from questions.follow_ups import of_itself, of_what_it_asks
from questions.kinds import CODE_KINDS
from questions.messages import explain
from questions.schema import ADAPTER, Question
from questions.schema.common import Line, Prose, Strict

__all__ = ["BankError", "Finding", "json_schema", "load_bank", "load_file", "load_mistakes"]

DEFAULT_ROOT = Path(__file__).resolve().parent
MISTAKES = "mistakes"
SCHEMA_ID = "urn:attention-drill:question:1"


class MistakeText(Strict):
    """What a learner who made a named mistake is told."""

    title: Line
    explanation: Prose
    hint: Prose


_MISTAKE: TypeAdapter[Any] = TypeAdapter(MistakeText)


@dataclass
class Entry:
    """A question with the file it came from."""

    question: Any
    document: Document


@dataclass
class Bank:
    """What could be read of a bank, and what could not."""

    entries: dict[str, Entry] = field(default_factory=dict)
    mistakes: dict[str, dict[str, str]] = field(default_factory=dict)
    findings: list[Finding] = field(default_factory=list)


def _validated(document: Document, adapter: TypeAdapter[Any], annotation: Any) -> Any:
    try:
        return adapter.validate_json(json.dumps(document.data))
    except ValidationError as error:
        if any(e["type"] == "json_invalid" for e in error.errors(include_url=False)):
            message = "a text holds half of a surrogate pair: write the character itself"
            raise BankError([document.finding((), message)]) from None
        raise BankError(explain(document, error, annotation)) from None


def load_entry(path: Path) -> Entry:
    """The question at `path` with its places; BankError where it is not as it must be."""
    document = read(path)
    question = _validated(document, ADAPTER, Question)
    findings = []
    if question.id != path.stem:
        message = (
            f"`id` is `{question.id}`, the file `{path.name}`: name the file `{question.id}.yaml`"
        )
        findings.append(document.finding(("id",), message))
    folder = path.absolute().parent.name
    if question.topic != folder:
        message = f"`topic` is `{question.topic}`, the folder `{folder}`: make them the same"
        findings.append(document.finding(("topic",), message))
    if findings:
        raise BankError(findings)
    return Entry(question, document)


def load_file(path: Path | str) -> Any:
    """The question in the file at `path`. Raises BankError with every finding."""
    return load_entry(Path(path)).question


def load_mistakes(root: Path | str) -> dict[str, dict[str, str]]:
    """The texts below <root>/mistakes/, of all its files: id -> {title, explanation, hint}.

    Raises BankError.
    """
    texts: dict[str, dict[str, str]] = {}
    findings: list[Finding] = []
    homes: dict[str, str] = {}
    for path in yaml_files(Path(root) / MISTAKES):
        try:
            document = read(path)
            found = _texts(document)
        except BankError as error:
            findings.extend(error.findings)
            continue
        for id_ in found.keys() & texts.keys():
            message = f"`{id_}` stands in {homes[id_]} too: keep one"
            findings.append(document.finding((id_,), message))
        homes |= dict.fromkeys(found, str(path))
        texts |= found
    if findings:
        raise BankError(findings)
    return texts


def _texts(document: Document) -> dict[str, dict[str, str]]:
    """Those of one file. Raises BankError."""
    findings: list[Finding] = []
    texts = {}
    for key, value in document.data.items():
        part = Document(document.path, value)
        part.values = {p[1:]: place for p, place in document.values.items() if p[:1] == (key,)}
        part.keys = {p[1:]: place for p, place in document.keys.items() if p[1:] and p[0] == key}
        if not isinstance(value, dict):
            message = f"`{key}` must be a mapping with title, explanation and hint"
            findings.append(document.finding((key,), message))
            continue
        try:
            texts[key] = _validated(part, _MISTAKE, MistakeText).model_dump(mode="json")
        except BankError as error:
            findings.extend(error.findings)
    if findings:
        raise BankError(findings)
    return texts


def question_files(root: Path) -> list[Path]:
    """<root>/<topic>/<id>.yaml, in order; hidden files and the texts of mistakes are left out."""
    folders = [f for f in root.iterdir() if f.is_dir()] if root.is_dir() else []
    topics = (f for f in folders if f.name != MISTAKES and not f.name.startswith("."))
    return sorted(file for topic in topics for file in yaml_files(topic))


def yaml_files(folder: Path) -> list[Path]:
    """Those in `folder`, in order; hidden ones are left out."""
    return sorted(file for file in folder.glob("*.yaml") if not file.name.startswith("."))


def read_bank(root: Path) -> Bank:
    """Everything under `root` that reads, with the findings of what does not."""
    bank = Bank()
    files = question_files(root)
    if not files:
        message = "no questions here: they are at <topic>/<id>.yaml below this folder"
        bank.findings.append(Finding(str(root), 1, 1, message))
        return bank
    for path in files:
        try:
            entry = load_entry(path)
        except BankError as error:
            bank.findings.extend(error.findings)
            continue
        first = bank.entries.setdefault(entry.question.id, entry)
        if first is not entry:
            message = f"`{entry.question.id}` is the id of {first.document.path} too: rename one"
            bank.findings.append(entry.document.finding(("id",), message))
    known = {path.stem for path in files}
    questions = {id_: entry.question for id_, entry in bank.entries.items()}
    for entry in bank.entries.values():
        bank.findings.extend(_unknown_follows(entry, known))
        bank.findings.extend(of_itself(entry.question, entry.document))
        bank.findings.extend(of_what_it_asks(entry.question, entry.document, questions, known))
    bank.findings.extend(_circles(bank.entries))
    _add_mistakes(bank, root)
    bank.findings = sorted(set(bank.findings))
    return bank


def _add_mistakes(bank: Bank, root: Path) -> None:
    """The texts of the bank's own, before those that come with drill."""
    named = {id_: _mistakes_named(e) for id_, e in bank.entries.items()}
    try:
        shipped = {} if root.resolve() == DEFAULT_ROOT else load_mistakes(DEFAULT_ROOT)
        bank.mistakes = shipped | load_mistakes(root)
    except BankError as error:
        bank.findings.extend(error.findings)
        return
    for id_, mistakes in named.items():
        for place, mistake in mistakes:
            if mistake not in bank.mistakes:
                message = f"the mistake `{mistake}` has no text: add it below {MISTAKES}/"
                bank.findings.append(bank.entries[id_].document.finding(place, message))


def _mistakes_named(entry: Entry) -> list[tuple[Path_, str]]:
    question = entry.question
    if question.kind not in (*CODE_KINDS, "compute"):
        return []
    named: list[tuple[Path_, str]] = [(("mistakes", i), m) for i, m in enumerate(question.mistakes)]
    if question.kind == "debug":
        named += [(("bugs", i, "mistake"), bug.mistake) for i, bug in enumerate(question.bugs)]
    return named


def _unknown_follows(entry: Entry, known: set[str]) -> list[Finding]:
    return [
        entry.document.finding(
            ("follows", i), f"`follows` names `{id_}`, which no question has as its id"
        )
        for i, id_ in enumerate(entry.question.follows)
        if id_ not in known
    ]


def _circles(entries: dict[str, Entry]) -> list[Finding]:
    """One finding for each circle that `follows` makes."""
    findings = []
    done: set[str] = set()
    for start in sorted(entries):
        trail: list[str] = []
        steps = [iter([start])]
        while steps:
            id_ = next(steps[-1], None)
            if id_ is None:
                steps.pop()
                if trail:
                    done.add(trail.pop())
            elif id_ in trail:
                circle = [*trail[trail.index(id_) :], id_]
                message = f"`follows` goes in a circle: {' -> '.join(circle)}; take one link out"
                findings.append(entries[id_].document.finding(("follows",), message))
            elif id_ in entries and id_ not in done:
                trail.append(id_)
                steps.append(iter(entries[id_].question.follows))
    return findings


def load_bank(root: Path | str = DEFAULT_ROOT) -> dict[str, Any]:
    """Every question below `root` by id, or the one of a single file.

    Raises BankError with all findings of all files.
    """
    root = Path(root)
    if root.is_file():
        question = load_file(root)
        return {question.id: question}
    bank = read_bank(root)
    if bank.findings:
        raise BankError(bank.findings)
    return {id_: entry.question for id_, entry in bank.entries.items()}


def json_schema() -> dict[str, Any]:
    """The JSON schema (draft 2020-12) of a question file, for editors."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": SCHEMA_ID,
        "title": "A question of the drill bank",
        **ADAPTER.json_schema(),
    }
