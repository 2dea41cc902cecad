"""Attacks on a warm grader, and what must be as before once each is graded."""

from __future__ import annotations

import contextlib
import functools
import os
import re
import shutil
import socket
import sqlite3
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from grader.report import Report
from grader.session import Grader
from questions.loader import DEFAULT_ROOT, load_file

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
SUBMISSIONS = sorted((HERE / "submissions").glob("*.py"))
MARK = f"drill-hostile-{os.getpid()}"
HEAD = re.compile(r"# (A\d{3}) ([\w|@ ]+): .+")
SAYS = re.compile(r"# says: (.+)")
SHARED = ("/tmp", "/var/tmp", "/dev/shm", "/run")
HONEST = ROOT / "tests" / "honest" / "stable-softmax" / "shift_and_normalise.py"


@dataclass(frozen=True)
class Attack:
    """One file: the row that it tries, the right verdicts by tier, words of the summary."""

    path: Path
    row: str
    verdicts: dict[int, frozenset[str]]
    says: str

    @property
    def declared(self) -> frozenset[str]:
        return frozenset().union(*self.verdicts.values())


def read(path: Path) -> Attack:
    lines = path.read_bytes().decode("utf-8-sig", "replace").split("\n")
    found = HEAD.fullmatch(lines[0])
    assert found, f"{path.name} does not begin with its row and verdict"
    verdicts: dict[int, frozenset[str]] = {}
    for word in found[2].split():
        names, _, tier = word.partition("@")
        for each in [int(tier)] if tier else [3, 2]:
            verdicts[each] = frozenset(names.split("|"))
    says = SAYS.fullmatch(lines[1]) if len(lines) > 1 else None
    return Attack(path, found[1], verdicts, says[1] if says else "")


class Range:
    """A grader of one tier in a folder of its own, with canaries and listeners around it.

    `tmp` is the temporary folder of all that the grader does. Everybody may write to the canaries:
    no permission but the sandbox keeps them.
    """

    def __init__(self, tier: int, abi: int | None) -> None:
        with contextlib.ExitStack() as self.closing:  # nothing is left where it fails half-way
            self._open(tier, abi)
            self.closing = self.closing.pop_all()

    def _open(self, tier: int, abi: int | None) -> None:
        self.tmp = self._folder(None)
        self.folder = self._folder(self.tmp)
        self.canary = self._file(self.folder / "canary.txt", "canary\n")
        self.home = self._file(self._folder(Path.home()) / "id_rsa", "canary of the home\n")
        self.source = ROOT / "reference" / "softmax.py"
        self.database = self.folder / "grades.db"
        with contextlib.closing(sqlite3.connect(self.database)) as made:
            made.executescript("CREATE TABLE grades (score REAL); INSERT INTO grades VALUES (0)")
        self.database.chmod(0o666)
        unix = self.tmp / "daemon"
        self.listeners = [
            self._listener(socket.AF_INET, ("127.0.0.1", 0)),
            self._listener(socket.AF_INET, ("127.0.0.1", 0), socket.SOCK_DGRAM),
            self._listener(socket.AF_UNIX, str(unix)),
            self._listener(socket.AF_UNIX, f"\0{MARK}"),
            self._listener(socket.AF_UNIX, f"{unix}-datagrams", socket.SOCK_DGRAM),
            self._listener(socket.AF_UNIX, f"\0{MARK}-datagrams", socket.SOCK_DGRAM),
        ]
        for path in self.tmp.glob("daemon*"):
            path.chmod(0o777)
        self.places = {
            "{canary}": str(self.canary),
            "{folder}": str(self.folder),
            "{home}": str(self.home),
            "{source}": str(self.source),
            "{database}": str(self.database),
            "{socket}": str(unix),
            "{datagrams}": f"{unix}-datagrams",
            "{port}": str(self.listeners[0].getsockname()[1]),
            "{udp}": str(self.listeners[1].getsockname()[1]),
            "{mark}": MARK,
        }
        os.environ["DRILL_TEST_TOKEN"] = MARK
        before, tempfile.tempdir = tempfile.tempdir, str(self.tmp)
        try:
            self.grader = Grader(highest=tier, abi=abi)
            self.closing.enter_context(self.grader)
            self.grader.start()
        finally:
            tempfile.tempdir = before
            del os.environ["DRILL_TEST_TOKEN"]

    def close(self) -> None:
        self.closing.close()

    def _folder(self, inside: Path | None) -> Path:
        folder = Path(tempfile.mkdtemp(prefix="drill-range-", dir=inside))
        folder.chmod(0o777)
        self.closing.callback(shutil.rmtree, folder, ignore_errors=True)
        return folder

    def _file(self, path: Path, text: str) -> Path:
        path.write_text(text)
        path.chmod(0o666)
        return path

    def _listener(self, family: int, address: Any, kind: int = socket.SOCK_STREAM) -> socket.socket:
        listener = self.closing.enter_context(socket.socket(family, kind))
        listener.bind(address)
        if kind == socket.SOCK_STREAM:
            listener.listen()
        listener.setblocking(False)
        return listener

    def source_of(self, attack: Attack) -> bytes:
        """The attack with the places of this range written into it."""
        data = attack.path.read_bytes()
        for name, place in self.places.items():
            data = data.replace(name.encode(), place.encode())
        return data

    def reached(self) -> list[str]:
        """Listeners that heard of someone."""
        heard = []
        for listener in self.listeners:
            with contextlib.suppress(BlockingIOError):
                if listener.type == socket.SOCK_DGRAM:
                    listener.recv(1)
                else:
                    listener.accept()[0].close()
                heard.append(str(listener.getsockname()))
        return heard

    def state(self) -> dict[str, Any]:
        """What no submission may change: canaries, folders, our processes."""
        files = [self.canary, self.home, self.source, self.database, HONEST]
        kept: dict[str, Any] = {str(path): _fingerprint(path) for path in files}
        for folder in (self.folder, self.home.parent, self.source.parent):
            kept[f"in {folder}"] = sorted(n for n in os.listdir(folder) if n != "__pycache__")
        for folder in SHARED:
            kept[f"in {folder}"] = list(_ours(folder, self.grader.policy.uid))
        kept["in tmp"] = sorted(os.listdir(self.tmp))
        zygote = self.grader._zygote
        kept["zygote"] = zygote and zygote.pid
        kept["processes"] = sorted(self.processes())
        return kept

    def scratch(self) -> list[str]:
        """Folders of submissions; one that takes long to remove goes with the next."""
        try:
            return sorted(os.listdir(self.grader._scratch))
        except FileNotFoundError:
            return []

    @staticmethod
    def settled(before: Any, look: Callable[[], Any], seconds: float = 1.0) -> Any:
        """What there is once it is as before, else when the time is up."""
        deadline = time.monotonic() + seconds
        while (after := look()) != before and time.monotonic() < deadline:
            time.sleep(0.02)
        return after

    def processes(self) -> Iterator[int]:
        """Those of the grader and all that it ran: by their command, or by their user."""
        scratch, uid = os.path.basename(self.grader._scratch).encode(), self.grader.policy.uid
        for name in os.listdir("/proc"):
            if not name.isdigit():
                continue
            with contextlib.suppress(OSError):
                command = Path("/proc", name, "cmdline").read_bytes()
                status = Path("/proc", name, "status").read_text()
                fields = dict(line.split(":\t", 1) for line in status.splitlines() if ":\t" in line)
                alive = not fields["State"].startswith("Z")
                its_user = uid and str(uid) in fields["Uid"].split()
                if alive and (scratch in command or MARK.encode() in command or its_user):
                    yield int(name)

    def grade(self, attack: Attack, question: dict[str, Any]) -> tuple[Report, float]:
        """The report, and the wall seconds that it took."""
        began = time.monotonic()
        report = self.grader.grade(question, self.source_of(attack), 7, attack.path.name)
        return report, time.monotonic() - began


def _fingerprint(path: Path) -> tuple[Any, ...]:
    status = path.stat()
    return (path.read_bytes(), status.st_mtime_ns, status.st_mode, status.st_uid, status.st_nlink)


def _ours(folder: str, uid: int) -> Iterator[str]:
    with contextlib.suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            with contextlib.suppress(OSError):
                owner = entry.stat(follow_symlinks=False).st_uid
                if MARK in entry.name or (uid and owner == uid):
                    yield entry.name


@functools.cache
def _loaded(id_: str) -> Any:
    (path,) = DEFAULT_ROOT.glob(f"*/{id_}.yaml")
    return load_file(path).model_dump(mode="json")


def question(id_: str, **changes: Any) -> dict[str, Any]:
    return {**_loaded(id_), "mistakes": [], "probes": [], **changes}
