"""The judge's way to new submission processes: asks the zygote, and hears when one has died."""

from __future__ import annotations

import contextlib
import os
import secrets
import select
import signal
import socket
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from grader.isolation import clear, control
from grader.isolation.calls import Limits

PATIENCE = 20.0  # seconds for the zygote to fork: it is ours, so a delay is a fault
DYING = 0.6  # seconds for the killed to be reaped
QUIET = 0.3  # seconds after which a silent zygote is suspected to be stopped
CLEARING = 0.2  # seconds to remove scratch folders; what is left goes next time, or at the end


class IsolationFault(Exception):
    """The processes around the submission failed: our fault, never the learner's."""


@dataclass(frozen=True)
class Exit:
    """How a process ended: its wait status, and its largest resident size in bytes."""

    status: int
    resident_bytes: int
    cpu_seconds: float

    @property
    def signal(self) -> int | None:
        """The signal that killed it."""
        return os.WTERMSIG(self.status) if os.WIFSIGNALED(self.status) else None

    @property
    def code(self) -> int | None:
        """Its exit code."""
        return os.WEXITSTATUS(self.status) if os.WIFEXITED(self.status) else None


@dataclass
class Child:
    """A running submission process, and our ends of its channel and of its output."""

    number: int
    pid: int
    handle: int | None  # pidfd
    channel: socket.socket
    output: int
    scratch: str


class Launcher:
    """Starts and ends children. One for the judge's life; several children may live at once."""

    def __init__(self, sock: socket.socket, scratch: str, policy: Mapping[str, Any]) -> None:
        self.sock = sock
        self.scratch = scratch
        self.sealed = policy["tier"] > 1  # whether files and calls are shut
        self.bounds_memory = policy["bounds_memory"]  # whether the system does
        self.accelerator: str = policy["accelerator"]
        self.compiles = policy["compiles"]  # whether it may start programs
        self.told = policy["listens"]  # whether the judge hears of refused calls
        self.tried: dict[int, str] = dict(policy["tried"])  # by each call that is denied
        self.exits: dict[int, Exit] = {}
        self._next = 0
        self._zygote = os.getppid()
        self._forked: dict[int, tuple[int, list[int]]] = {}
        self._spent: list[str] = []  # scratch folders to be removed

    def start(self, limits: Limits, forbidden: tuple[str, ...]) -> Child:
        """Start a child with these limits and ruled-out groups. Raises IsolationFault."""
        self._next += 1
        number = self._next
        # A name that no earlier submission could have put something under.
        scratch = secrets.randbits(62)
        near, far = socket.socketpair()
        output, output_far = os.pipe2(os.O_CLOEXEC) if hasattr(os, "pipe2") else os.pipe()
        os.set_blocking(output, False)
        message = control.Message(
            control.FORK,
            number,
            limits.memory_bytes,
            limits.file_bytes,
            control.mask(forbidden),
            scratch,
        )
        try:
            try:
                control.send(self.sock, message, (far.fileno(), output_far))
            except OSError as error:
                raise IsolationFault("the process that starts submissions is gone") from error
            deadline = time.monotonic() + PATIENCE
            while number not in self._forked:
                if not self._hear(deadline):
                    raise IsolationFault("the process that starts submissions does not answer")
        finally:  # only now: macOS may drop a socket that is on its way and open nowhere
            far.close()
            os.close(output_far)
        pid, handles = self._forked.pop(number)
        if not pid:
            near.close()
            os.close(output)
            raise IsolationFault("the system gives no process, or no folder, to run it in")
        handle = handles[0] if handles else None
        return Child(number, pid, handle, near, output, os.path.join(self.scratch, str(scratch)))

    def warm(self) -> None:
        """Have the zygote import what torch imports lazily: seconds, in which it forks nothing."""
        control.send(self.sock, control.Message(control.WARM, 0))

    def interpret(self) -> None:
        """Have the zygote import Triton, so that kernels run in its interpreter from now on."""
        control.send(self.sock, control.Message(control.INTERPRET, 0))

    def pump(self) -> None:
        """Take one message of the zygote; call it when `sock` is readable."""
        received = control.receive(self.sock)
        if received is None:
            raise IsolationFault("the process that starts submissions is gone")
        message, descriptors = received
        if message.kind == control.FORKED:
            self._forked[message.child] = (message.a, descriptors)
        elif message.kind == control.EXITED:
            self.exits[message.child] = Exit(message.a, message.b * 1024, message.seconds)

    def end(self, child: Child) -> None:
        """Kill the child and everything that it started.

        Waits until they are reaped, but not for long: gigabytes of memory take a second to free,
        and what is killed runs no more code meanwhile.
        """
        if child.number not in self.exits:
            _kill(child)
        deadline = time.monotonic() + DYING
        while child.number not in self.exits and time.monotonic() < deadline:
            self._hear(deadline)
        child.channel.close()
        os.close(child.output)
        if child.handle is not None:
            os.close(child.handle)
        self._spent.insert(0, child.scratch)  # the new one first, which is small as a rule
        deadline = time.monotonic() + CLEARING
        self._spent = [
            path for path in self._spent if not clear.remove(path, deadline - time.monotonic())
        ]

    def _hear(self, deadline: float) -> bool:
        """Take the zygote's next message. False: there was none until the deadline."""
        while True:
            left = min(QUIET, max(0.0, deadline - time.monotonic()))
            if select.select([self.sock], [], [], left)[0]:
                self.pump()
                return True
            # A submission may have stopped it; to one that runs this does nothing.
            with contextlib.suppress(OSError):
                os.kill(self._zygote, signal.SIGCONT)
            if time.monotonic() >= deadline:
                return False


def _kill(child: Child) -> None:
    with contextlib.suppress(ProcessLookupError):
        if child.handle is not None:
            signal.pidfd_send_signal(child.handle, signal.SIGKILL)
            return
        os.kill(child.pid, signal.SIGKILL)
        os.killpg(child.pid, signal.SIGKILL)
