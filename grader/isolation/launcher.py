"""The judge's way to new submission processes: asks the zygote, and hears when one has died."""

from __future__ import annotations

import contextlib
import os
import select
import shutil
import signal
import socket
import time
from dataclasses import dataclass

from grader.isolation import control
from grader.isolation.calls import Limits

PATIENCE = 20.0  # seconds for the zygote to fork or reap: it is ours, so a delay is a fault


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

    def __init__(self, sock: socket.socket, scratch: str) -> None:
        self.sock = sock
        self.scratch = scratch
        self.exits: dict[int, Exit] = {}
        self._next = 0
        self._forked: dict[int, tuple[int, list[int]]] = {}

    def start(self, limits: Limits, forbidden: tuple[str, ...]) -> Child:
        """Fork a child with these limits and ruled-out groups. Raises IsolationFault."""
        self._next += 1
        number = self._next
        near, far = socket.socketpair()
        output, output_far = os.pipe2(os.O_CLOEXEC) if hasattr(os, "pipe2") else os.pipe()
        os.set_blocking(output, False)
        message = control.Message(
            control.FORK,
            number,
            limits.memory_bytes,
            limits.file_bytes,
            control.mask(forbidden),
        )
        try:
            control.send(self.sock, message, (far.fileno(), output_far))
        except OSError as error:
            raise IsolationFault("the process that starts submissions is gone") from error
        finally:
            far.close()
            os.close(output_far)
        deadline = time.monotonic() + PATIENCE
        while number not in self._forked:
            self._wait(deadline)
        pid, handles = self._forked.pop(number)
        handle = handles[0] if handles else None
        return Child(number, pid, handle, near, output, os.path.join(self.scratch, str(number)))

    def warm(self) -> None:
        """Have the zygote import what torch imports lazily: seconds, in which it forks nothing."""
        control.send(self.sock, control.Message(control.WARM, 0))

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

    def end(self, child: Child) -> Exit:
        """Kill the child and everything that it started; wait until they are reaped."""
        if child.number not in self.exits:
            _kill(child)
        ended = self.wait(child)
        child.channel.close()
        os.close(child.output)
        if child.handle is not None:
            os.close(child.handle)
        shutil.rmtree(child.scratch, ignore_errors=True)
        return ended

    def wait(self, child: Child) -> Exit:
        """Wait until a child that is dying, or was killed, is reaped."""
        deadline = time.monotonic() + PATIENCE
        while child.number not in self.exits:
            self._wait(deadline)
        return self.exits[child.number]

    def _wait(self, deadline: float) -> None:
        if not select.select([self.sock], [], [], max(0.0, deadline - time.monotonic()))[0]:
            raise IsolationFault("the process that starts submissions does not answer")
        self.pump()


def _kill(child: Child) -> None:
    with contextlib.suppress(ProcessLookupError):
        if child.handle is None:
            os.kill(child.pid, signal.SIGKILL)
        else:
            signal.pidfd_send_signal(child.handle, signal.SIGKILL)
