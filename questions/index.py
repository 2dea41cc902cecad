"""The validated bank as plain data, for serving: cached, so that neither YAML nor pydantic loads.

The cache is one file: a line that says what bank it was made from, then the bank. It is used
only while every file of the bank, and the code that reads it, is as it was; whatever is wrong
with it, it is made anew, and where it cannot be written the bank is read each time.
"""

from __future__ import annotations

import json
import os
import zlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from questions.findings import BankError, Finding

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["BankError", "Finding", "Index", "load"]

FORMAT = 1
CACHE = "bank-index.json"
_HERE = os.path.dirname(os.path.abspath(__file__))


@dataclass(frozen=True)
class Index:
    """`questions`: id -> the question as JSON-able data, with `revision`; not to be changed.

    `order`: ids in teaching order. `mistakes`: id -> {title, explanation, hint}.
    `fingerprint`: changes when any file of the bank does.
    """

    questions: dict[str, dict[str, Any]]
    order: list[str]
    mistakes: dict[str, dict[str, str]]
    fingerprint: str

    def suggest(self, id_: str, most: int = 3) -> list[str]:
        """Ids that may have been meant by `id_`, the likeliest first."""
        from difflib import get_close_matches

        typed = "-".join(id_.lower().replace("_", " ").replace("-", " ").split())
        if not typed:
            return []
        holding = sorted((i for i in self.order if typed in i), key=lambda i: (len(i), i))
        near = get_close_matches(typed, self.order, n=most, cutoff=0.55)
        return list(dict.fromkeys([*holding, *near]))[:most]


def _stamps(root: str) -> list[str]:
    """Name, size and time of change of each file that the index is made from."""
    readers = ("loader.py", "document.py", "findings.py", "follow_ups.py")
    code = [os.path.join(_HERE, name) for name in readers]
    code += [e.path for e in os.scandir(os.path.join(_HERE, "schema")) if e.name.endswith(".py")]
    bank: list[str] = []
    folders = {e.path for e in os.scandir(root) if e.is_dir() and not e.name.startswith(".")}
    folders.add(os.path.join(_HERE, "mistakes"))  # of which any bank may use the texts
    for folder in folders:
        bank += [e.path for e in os.scandir(folder) if e.name.endswith(".yaml")]
    stamps = []
    for path in sorted(code) + sorted(bank):
        try:
            status = os.stat(path)
        except OSError:
            continue
        stamps.append(f"{path} {status.st_size} {status.st_mtime_ns}")
    return stamps


def _fingerprint(root: str) -> str:
    text = "\n".join([str(FORMAT), *_stamps(root)]).encode("utf-8", "surrogateescape")
    return f"{zlib.crc32(text):08x}{zlib.adler32(text):08x}{len(text):x}"


def _read(path: str, fingerprint: str) -> Index | None:
    """The cached index, or None where it is absent, stale or damaged."""
    try:
        with open(path, "rb") as file:
            head, _, body = file.read().partition(b"\n")
        if head != _head(fingerprint, body):
            return None
        data = json.loads(body)
        return Index(data["questions"], data["order"], data["mistakes"], fingerprint)
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None


def _head(fingerprint: str, body: bytes) -> bytes:
    return f"drill bank {FORMAT} {fingerprint} {zlib.crc32(body):08x}".encode()


def _write(folder: str, index: Index) -> None:
    data = {"questions": index.questions, "order": index.order, "mistakes": index.mistakes}
    body = json.dumps(data, ensure_ascii=False, separators=(",", ":")).encode()
    path = os.path.join(folder, CACHE)
    temporary = f"{path}.{os.getpid()}.new"
    try:
        os.makedirs(folder, exist_ok=True)
        with open(temporary, "wb") as file:
            file.write(_head(index.fingerprint, body) + b"\n" + body)
        os.replace(temporary, path)
    except OSError:
        # A cache is a convenience: without it the bank is read again next time.
        try:
            os.unlink(temporary)
        except OSError:
            return


def teaching_order(questions: dict[str, dict[str, Any]]) -> list[str]:
    """Ids, each after all that it follows; among those ready by level, then topic, then id."""
    from heapq import heapify, heappop, heappush

    def rank(id_: str) -> tuple[int, str, str]:
        return (questions[id_]["level"], questions[id_]["topic"], id_)

    waiting = {i: {f for f in q["follows"] if f in questions} for i, q in questions.items()}
    leads: dict[str, list[str]] = {i: [] for i in questions}
    for id_, before in waiting.items():
        for other in before:
            leads[other].append(id_)
    ready = [rank(i) for i, before in waiting.items() if not before]
    heapify(ready)
    order = []
    while ready:
        id_ = heappop(ready)[2]
        order.append(id_)
        for later in leads[id_]:
            waiting[later].discard(id_)
            if not waiting[later]:
                heappush(ready, rank(later))
    return order


def _build(root: str, fingerprint: str) -> Index:
    from pathlib import Path

    from questions.loader import read_bank

    bank = read_bank(Path(root))
    if bank.findings:
        raise BankError(bank.findings)
    questions: dict[str, dict[str, Any]] = {}
    for id_, entry in bank.entries.items():
        data = entry.question.model_dump(mode="json")
        numbers = [revision["number"] for revision in data["revisions"]]
        questions[id_] = {**data, "revision": max(numbers, default=1)}
    return Index(questions, teaching_order(questions), bank.mistakes, fingerprint)


def load(root: Path | str | None = None, cache_dir: Path | str | None = None) -> Index:
    """The bank at `root` (the one that ships), from the cache in `cache_dir` while it is fresh.

    Without `cache_dir` nothing is cached. Raises BankError where the bank cannot be used.
    """
    where = os.path.abspath(root if root is not None else _HERE)
    try:
        fingerprint = _fingerprint(where)
    except OSError as error:
        reason = (error.strerror or "unknown reason").lower()
        raise BankError([Finding(where, 1, 1, f"the bank cannot be read: {reason}")]) from None
    if cache_dir is not None:
        cached = _read(os.path.join(cache_dir, CACHE), fingerprint)
        if cached is not None:
            return cached
    index = _build(where, fingerprint)
    if cache_dir is not None:
        _write(os.fspath(cache_dir), index)
    return index
