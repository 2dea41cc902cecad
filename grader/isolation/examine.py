"""Attacks by our own hand under the very policy that submissions get: does every layer hold?

The session lays out canaries (files, sockets, a process), sends each probe as a submission, and
looks afterwards whether a canary was touched. Not what is installed counts, but what happens; and
a probe that fails without a sandbox too shows nothing.
"""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from grader.isolation import policy
from grader.session import Grader, GraderFault

if TYPE_CHECKING:
    from grader.isolation.worker_handle import Worker

State = Literal["blocked", "OPEN", "untestable"]

HANDLER = "grader.isolation.examine:attack"
QUESTION = {
    "id": "isolation",
    "seconds": 2.0,
    "forbidden": [],
    "entry": "answer",
    "framework": "torch",
}
CONTROL_SECONDS = 20.0
SURVIVES = 30  # seconds that a survivor sleeps, if it can be made

CROWD = "start threads without end"
SURVIVOR = "leave a process behind"  # to make one is not to keep it

PROBES: dict[str, tuple[int, str]] = {
    "read a file": (2, "open(file).read()"),
    "list a folder": (2, "os.listdir(folder)"),
    "learn that a file exists": (3, "os.stat(file)"),
    "write a new file": (2, "open(folder + '/new', 'w').write('x')"),
    "change a file": (2, "open(file, 'a').write('x')"),
    "truncate a file by its path": (2, "os.truncate(file, 1)"),
    "change a file's mode": (2, "os.chmod(file, 0o777)"),
    "delete a file": (2, "os.remove(file)"),
    "link a file into its own folder": (2, "os.link(file, 'mine'); open('mine').read()"),
    "read drill's own source": (2, "io.FileIO(ours).read()"),
    "connect over TCP": (2, "socket.create_connection(('127.0.0.1', tcp), 1)"),
    "send over UDP": (
        2,
        "socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'x', ('127.0.0.1', udp))",
    ),
    "connect to a unix socket": (2, "socket.socket(socket.AF_UNIX).connect(unix)"),
    "signal another process": (2, "os.kill(process, 0)"),
    "read another process's environment": (2, "open(f'/proc/{process}/environ').read()"),
    "read another process's memory": (2, "open(f'/proc/{process}/mem', 'rb').seek(0)"),
    "trace another process": (
        2,
        "assert ctypes.CDLL(None).ptrace(0x4206, process, 0, 0) == 0",
    ),
    "start a program": (2, "subprocess.run([sys.executable, '-c', ''], check=True)"),
    "start a process": (2, "os.fork() or os._exit(0)"),
    SURVIVOR: (
        1,
        "os.fork() or (os.setsid(), os.fork() and os._exit(0), "
        f"open(folder + '/alive', 'w').write(str(os.getpid())), time.sleep({SURVIVES}))\n"
        "time.sleep(0.2)",
    ),
    "use more memory than the limit": (1, "[bytearray(1 << 29) for _ in range(16)]"),
    "fill its folder": (2, "[open(str(n), 'wb').write(bytes(8 << 20)) for n in range(1000)]"),
    "take disk without writing": (
        2,  # FS_IOC_RESVSP64, a megabyte
        "fcntl.ioctl(os.open('mine', os.O_RDWR | os.O_CREAT), 0x4030582A, "
        "struct.pack('=hhiqqiI16x', 0, 0, 0, 0, 1 << 20, 0, 0))",
    ),
    "change a file's flags": (
        2,  # FS_IOC_GETFLAGS, FS_IOC_SETFLAGS
        "mine = os.open('mine', os.O_RDONLY | os.O_CREAT)\n"
        "fcntl.ioctl(mine, 0x40086602, fcntl.ioctl(mine, 0x80086601, bytes(8)))",
    ),
    CROWD: (
        1,
        "[threading.Thread(target=time.sleep, args=(9,), daemon=True).start() "
        "for _ in range(1000)]\n"
        "time.sleep(1)",
    ),
    "print without end": (1, "while True: print('x' * 65536)"),
    "run without end": (1, "while True: pass"),
}
"""What is tried -> the lowest tier that claims to block it, and the Python that tries."""

BY_LINUX = (
    "read another process's environment",
    "read another process's memory",
    "trace another process",
    "take disk without writing",
    "change a file's flags",
    CROWD,
)
"""Probes that attack what only Linux has, or tells."""
ELSEWHERE = {
    # Nothing is held there before it is written to.
    "use more memory than the limit": (1, "[b'x' * (1 << 29) for _ in range(16)]"),
    # Nothing but the sandbox keeps a process from leaving its group.
    SURVIVOR: (2, PROBES[SURVIVOR][1]),
}
"""Probes that differ on other systems."""

UNCONTROLLED = (
    *(SURVIVOR, "use more memory than the limit", "fill its folder"),
    *(CROWD, "print without end", "run without end"),
)
"""Probes that are not tried out without a sandbox: they would do what they attempt."""

TAIL = "\ndef answer(): pass\n"
HEAD = "import ctypes, fcntl, io, os, signal, socket, struct, subprocess, sys, threading, time\n"


@dataclass(frozen=True)
class Finding:
    """`claimed`: whether the tier says that it is blocked."""

    probe: str
    state: State
    claimed: bool

    @property
    def holds(self) -> bool:
        """Whether nothing that is claimed was found open."""
        return self.state != "OPEN" or not self.claimed


def examine(grader: Grader) -> list[Finding]:
    """Every probe, each in a process of its own. Raises GraderFault.

    `grader` must have been made with `handlers()`.
    """
    findings = []
    with _canaries() as (places, is_touched):
        for probe, (tier, statements) in probes().items():
            if probe in BY_LINUX and policy.PLATFORM != "linux":
                findings.append(Finding(probe, "untestable", False))
                continue
            source = HEAD + "".join(f"{k} = {v!r}\n" for k, v in places.items())
            source += statements + TAIL
            try:
                found = grader.prove(QUESTION, {"source": source.encode()}, [])
            except GraderFault:
                if grader.policy.tier > 1:
                    raise
                found = {"status": "returned"}  # without a sandbox it may reach our processes
            status, detail = found["status"], found.get("detail", {})
            # A program that takes the process's place ends it in good order.
            went = status == "returned" or (status == "died" and detail.get("exit") == 0)
            touched = is_touched()
            state: State = "OPEN" if touched or (went and probe != SURVIVOR) else "blocked"
            if state == "blocked" and probe not in UNCONTROLLED and not _works(source):
                state = "untestable"
            is_touched()
            findings.append(Finding(probe, state, grader.policy.tier >= tier))
    return findings


def _works(source: str) -> bool:
    """Whether a probe does what it attempts where nothing shuts it in: in Python alone."""
    with (
        tempfile.TemporaryDirectory(prefix="drill-control-") as folder,
        contextlib.suppress(subprocess.TimeoutExpired),
    ):
        done = subprocess.run(
            [sys.executable, "-I", "-S", "-c", source],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd=folder,
            timeout=CONTROL_SECONDS,
        )
        return done.returncode == 0
    return False


def probes() -> dict[str, tuple[int, str]]:
    """`PROBES` as they are on this system."""
    return PROBES if policy.PLATFORM == "linux" else {**PROBES, **ELSEWHERE}


def handlers() -> dict[str, str]:
    """For a `Grader` whose submissions are probes."""
    return {"prove": HANDLER}


def attack(
    question: dict[str, Any],
    sources: dict[str, bytes],
    seeds: list[int],
    factory: Callable[..., Callable[[], Worker]],
    *_: Any,
) -> dict[str, Any]:
    """In the judge: load one probe as if it were a submission."""
    with factory(sources["source"], "probe.py")() as worker:
        outcome = worker.load()
    return {"status": outcome.status, "detail": outcome.detail}


@contextlib.contextmanager
def _canaries() -> Iterator[tuple[dict[str, Any], Callable[[], bool]]]:
    """Where the canaries are, and whether one was touched since the last time that was asked."""
    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="drill-canary-")))
        os.chmod(folder, 0o755)
        file = folder / "canary"
        file.write_text("untouched")
        file.chmod(0o644)
        unix = str(folder / "socket")
        listener = stack.enter_context(socket.socket(socket.AF_UNIX))
        listener.bind(unix)
        listener.listen()
        tcp = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
        udp = stack.enter_context(socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
        udp.bind(("127.0.0.1", 0))
        udp.setblocking(False)
        process = stack.enter_context(_sleeper())

        def is_touched() -> bool:
            """Looks, and lays the canaries out anew."""
            touched = process.poll() is not None
            with contextlib.suppress(OSError):
                touched |= bool(udp.recv(1))
            survivor = folder / "alive"
            if survivor.exists():  # written before it was killed, as a rule
                touched |= _is_running(int(survivor.read_text() or 0))
                survivor.unlink()
            touched |= _look(folder) != before
            for path in folder.iterdir():
                if path not in (file, Path(unix)):
                    path.unlink()
            file.unlink(missing_ok=True)
            file.write_text("untouched")
            file.chmod(0o644)
            return touched

        before = _look(folder)
        yield (
            {
                "folder": str(folder),
                "file": str(file),
                "ours": __file__,
                "unix": unix,
                "tcp": tcp.getsockname()[1],
                "udp": udp.getsockname()[1],
                "process": process.pid,
            },
            is_touched,
        )


@contextlib.contextmanager
def _sleeper() -> Iterator[subprocess.Popen[bytes]]:
    command = [sys.executable, "-I", "-S", "-c", f"import time; time.sleep({SURVIVES})"]
    with subprocess.Popen(command, stdin=subprocess.DEVNULL) as process:
        time.sleep(0.05)  # to be a process of its own to look at
        try:
            yield process
        finally:
            process.kill()


def _is_running(pid: int) -> bool:
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        return False
    return True


def _look(folder: Path) -> dict[str, tuple[int, int, bytes]]:
    found = {}
    for path in folder.iterdir():
        status = path.lstat()
        text = path.read_bytes() if path.is_file() else b""
        found[path.name] = (status.st_mode, status.st_nlink, text)
    return found
