"""A YAML file as plain data that remembers where each part stands.

A small, plain part of YAML: mappings, lists, text, numbers, true, false, null. Anchors, aliases
and tags are refused (they can make a short file huge, or something other than data), as are
duplicate keys. Plain scalars are read as in YAML 1.2: `yes` is text, `1e-4` is a number.
"""

from __future__ import annotations

import re
import stat
from dataclasses import dataclass, field
from math import inf, isfinite
from pathlib import Path
from typing import Any

import yaml

from questions.findings import BankError, Finding

LARGEST_FILE = 256 * 1024
DEEPEST = 40
_INT = re.compile(r"[-+]?(?:0|[1-9][0-9]*)\Z")
_FLOAT = re.compile(r"[-+]?(?:[0-9]+\.[0-9]*|\.[0-9]+|[0-9]+(?=[eE]))(?:[eE][-+]?[0-9]+)?\Z")
_LITERALS = {
    "": None,
    "~": None,
    "null": None,
    "true": True,
    "false": False,
    ".inf": inf,
    "-.inf": -inf,
}

_Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

Path_ = tuple[Any, ...]
"""Keys and list positions from the top of a file: ("cases", 0, "id")."""


@dataclass
class Document:
    """`data` is what json.dumps takes; places are (line, column), from 1, by path."""

    path: str
    data: dict[str, Any] = field(default_factory=dict)
    values: dict[Path_, tuple[int, int]] = field(default_factory=dict)
    keys: dict[Path_, tuple[int, int]] = field(default_factory=dict)
    blocks: set[Path_] = field(default_factory=set)
    """Paths of texts that begin on the line after their `|` or `>`."""

    def finding(self, path: Path_, message: str, *, key: bool = False) -> Finding:
        """A finding at `path`, or at the nearest part around it that the file holds."""
        if key and path in self.keys:
            return Finding(self.path, *self.keys[path], message)
        while path and path not in self.values:
            path = path[:-1]
        return Finding(self.path, *self.values.get(path, (1, 1)), message)

    def line_of(self, path: Path_, line: int, message: str) -> Finding:
        """A finding at a line, from 1, of the text at `path`."""
        if path not in self.blocks:
            return self.finding(path, message)
        return Finding(self.path, self.values[path][0] + line, 1, message)


def label(path: Path_) -> str:
    """A path as the reader of a file names it: cases[0].id."""
    text = "".join(f"[{p}]" if isinstance(p, int) else f".{p}" for p in path)
    return text.removeprefix(".")


class _Stop(Exception):
    """The file cannot be read further."""


class _Builder:
    """Builds the data from the parser's events, without recursion."""

    def __init__(self, path: str) -> None:
        self.document = Document(path)
        self.findings: list[Finding] = []
        self.stack: list[tuple[Path_, Any]] = []
        self.pending: list[str | None] = []
        self.root: Any = None

    def report(self, mark: Any, message: str) -> None:
        self.findings.append(Finding(self.document.path, mark.line + 1, mark.column + 1, message))

    def scalar(self, event: Any) -> Any:
        text: str = event.value
        if not event.implicit[0]:
            return text
        if text in _LITERALS:
            return _LITERALS[text]
        if _INT.match(text):
            if len(text) > 18:
                self.report(event.start_mark, "this number is too large: at most 17 digits")
                return 0
            return int(text)
        if not _FLOAT.match(text):
            return text
        if not isfinite(float(text)):
            self.report(event.start_mark, "this number is too large: write .inf for infinity")
        return float(text)

    def place(self, event: Any, value: Any, *, is_key_allowed: bool) -> Path_:
        """Put `value` where the file has it; the path it got."""
        place = (event.start_mark.line + 1, event.start_mark.column + 1)
        if not self.stack:
            self.root = value
            self.document.values[()] = place
            return ()
        path, container = self.stack[-1]
        if isinstance(container, list):
            here = (*path, len(container))
            container.append(value)
            self.document.values[here] = place
            return here
        if self.pending[-1] is None:
            if not is_key_allowed or not isinstance(value, (str, int, float, bool)):
                self.report(event.start_mark, "a key must be a word, not a list, a mapping or null")
                raise _Stop
            key = event.value
            here = (*path, key)
            if key in container:
                first = self.document.keys[here][0]
                self.report(
                    event.start_mark,
                    f"`{label(here)}` was given before, on line {first}: keep one of the two",
                )
            else:
                self.document.keys[here] = place
            self.pending[-1] = key
            return here
        here = (*path, self.pending[-1])
        if self.pending[-1] not in container:
            container[self.pending[-1]] = value
            self.document.values[here] = place
        self.pending[-1] = None
        return here

    def take(self, event: Any) -> None:
        mark = event.start_mark
        if isinstance(event, yaml.AliasEvent):
            self.report(mark, "aliases (*name) are not taken: write the part out")
            raise _Stop
        if getattr(event, "anchor", None):
            self.report(mark, "anchors (&name) are not taken: write the part out where needed")
        if isinstance(event, yaml.DocumentStartEvent) and () in self.document.values:
            self.report(mark, "a file holds one document: remove what follows the `---`")
            raise _Stop
        if isinstance(event, (yaml.ScalarEvent, yaml.CollectionStartEvent)):
            if event.tag not in (None, "!"):
                self.report(mark, "tags (!name) are not taken: write plain text, numbers and lists")
            if isinstance(event, yaml.ScalarEvent):
                key_follows = bool(self.pending) and self.pending[-1] is not None
                path = self.place(event, self.scalar(event), is_key_allowed=True)
                if event.style in ("|", ">") and (key_follows or not self.stack):
                    self.document.blocks.add(path)
                return
            if len(self.stack) >= DEEPEST:
                self.report(mark, f"nested more than {DEEPEST} deep: flatten it")
                raise _Stop
            container: Any = [] if isinstance(event, yaml.SequenceStartEvent) else {}
            path = self.place(event, container, is_key_allowed=False)
            self.stack.append((path, container))
            self.pending.append(None)
        elif isinstance(event, yaml.CollectionEndEvent):
            self.stack.pop()
            self.pending.pop()


def parse(path: str, text: str) -> Document:
    """`text` as a Document; BankError holds every finding. The top must be a mapping."""
    builder = _Builder(path)
    try:
        for event in yaml.parse(text, Loader=_Loader):
            builder.take(event)
    except _Stop:
        pass
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line, column = (mark.line + 1, mark.column + 1) if mark else (1, 1)
        problem = " ".join((error.problem or "it cannot be read").split())
        builder.findings.append(Finding(path, line, column, f"not valid YAML: {problem}"))
    except yaml.YAMLError as error:
        builder.findings.append(_unreadable_character(path, text, error))
    if not builder.findings and not isinstance(builder.root, dict):
        message = "the file is empty" if builder.root is None else "the top must be `key: value`"
        builder.findings.append(Finding(path, 1, 1, f"{message}: begin with `id: ...`"))
    if builder.findings:
        raise BankError(builder.findings)
    builder.document.data = builder.root
    return builder.document


def _unreadable_character(path: str, text: str, error: yaml.YAMLError) -> Finding:
    position = getattr(error, "position", 0)
    before = text[: position if isinstance(position, int) and position >= 0 else 0]
    line = before.count("\n") + 1
    column = len(before) - (before.rfind("\n") + 1) + 1
    return Finding(path, line, column, "a control character is not taken: remove it")


def read(path: Path) -> Document:
    """The file at `path` as a Document; BankError where it cannot be read."""
    name = str(path)
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            raise BankError([Finding(name, 1, 1, "this is not a file: give a YAML file")])
        with path.open("rb") as file:
            raw = file.read(LARGEST_FILE + 1)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "the name is not valid"
        message = f"the file cannot be read: {reason[0].lower()}{reason[1:]}"
        raise BankError([Finding(name, 1, 1, message)]) from None
    if len(raw) > LARGEST_FILE:
        limit = LARGEST_FILE // 1024
        message = f"the file is larger than {limit} KiB: shorten it, or split the question"
        raise BankError([Finding(name, 1, 1, message)])
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        column = error.start - (raw.rfind(b"\n", 0, error.start) + 1) + 1
        message = "the file is not UTF-8 text: save it as UTF-8"
        raise BankError([Finding(name, line, column, message)]) from None
    return parse(name, text)
