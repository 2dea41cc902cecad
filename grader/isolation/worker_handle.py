"""The judge's handle on one submission: load it, call it, and learn from outside how that went."""

from __future__ import annotations

import contextlib
import math
import os
import select
import signal
import socket
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from grader.isolation.calls import FATAL, Call, Limits, Outcome, Status
from grader.isolation.child import wire
from grader.isolation.launcher import Child, Exit, IsolationFault, Launcher
from grader.isolation.slab import BrokenAnswer, CallSlab, Fixed, Slab, clean, load_slab
from grader.isolation.usage import Meter

LOAD_ONLY = frozenset({"syntax", "missing", "not-callable"})
BREACHES = {
    wire.NO_CHANNEL: "the submission shut or replaced the channel",
    wire.BROKEN: "the submission broke the code that answers for it",
}
KEPT_BYTES = 8 << 10
SETUP_SECONDS = 20.0
SAMPLING = 0.001  # seconds between two looks at the memory of a process
CRASH_SIGNALS = {signal.SIGABRT, signal.SIGSEGV, signal.SIGBUS, signal.SIGKILL}


class Worker:
    """One submission's process. Use as a context manager: on exit the process is killed.

    `framework` is "torch" or "numpy"; `forbidden` names groups of `control.GROUPS`; `filename` is
    what tracebacks show. `on_answer` is called after each answer, as a sign of life.
    """

    def __init__(
        self,
        launcher: Launcher,
        source: bytes,
        entry: str,
        framework: str = "torch",
        limits: Limits | None = None,
        forbidden: tuple[str, ...] = (),
        filename: str = "submission.py",
        on_answer: Callable[[], None] = lambda: None,
    ) -> None:
        self.launcher = launcher
        self.source = source
        self.entry = entry
        self.framework = framework
        self.limits = limits or Limits()
        self.forbidden = forbidden
        self.filename = filename
        self.on_answer = on_answer
        self.output = _Output()
        self._child: Child | None = None
        self._ready = False
        self._refused = False

    def __enter__(self) -> Worker:
        self._child = self.launcher.start(self.limits, self.forbidden)
        return self

    def __exit__(self, *_: object) -> None:
        if self._child is not None:
            self._end()

    def load(self) -> Outcome:
        """Compile and run the file, find the entry. `returned` when it can be called.

        Raises IsolationFault, here and in `call`, where the fault is ours.
        """
        slab = load_slab(self.source, self.entry, self.filename, self.framework)
        return self._exchange(slab, lambda fixed: Outcome("returned"))

    def call(self, call: Call) -> Outcome:
        """Call the entry once."""
        slab = CallSlab(call, self.framework)

        def read(fixed: Fixed) -> Outcome:
            if fixed.status in LOAD_ONLY:
                raise BrokenAnswer("a call was answered like a load")
            if fixed.status != "returned":
                return Outcome("returned", inputs_changed=slab.changed(fixed.changed))
            return Outcome(
                "returned",
                fixed.headers,
                slab.output_tensors(fixed),
                slab.gradient_tensors(fixed.present),
                fixed.gradient_error,
                slab.changed(fixed.changed),
                overwrote=fixed.overwrote,
                counts=slab.counts(),
            )

        return self._exchange(slab, read, call.seconds, bool(call.measure))

    def _exchange(
        self,
        slab: Slab,
        read: Callable[[Fixed], Outcome],
        seconds: float = math.inf,
        measure: bool = False,
    ) -> Outcome:
        if self._child is None:
            return Outcome("died", error="the process had ended already", detail={"already": True})
        self._refused = False
        self.output.begin()
        meter = Meter(self._child.pid) if measure else None
        with slab:
            if meter is not None:
                meter.begin()
            began = time.monotonic()
            end = self._ask(slab, began, min(seconds, self.limits.seconds), meter)
            outcome = Outcome("returned", seconds=time.monotonic() - began)
            usage = meter.end() if meter is not None else None
            if end == "answered":
                try:
                    fixed = slab.fixed()
                    # Values first: a thread of the submission may still be writing.
                    outcome = replace(read(fixed), seconds=outcome.seconds, usage=usage)
                    outcome = _with_text(outcome, fixed)
                except BrokenAnswer as error:
                    outcome = replace(outcome, status="protocol", error=str(error))
            else:
                outcome = self._ended(end, outcome)
            if self._refused:
                outcome = self._forbidden(slab, outcome)
        if self._child is not None and (outcome.status in FATAL or end != "answered"):
            self._end()
        self.on_answer()
        return replace(outcome, stdout=self.output.text())

    def _ask(self, slab: Slab, began: float, seconds: float, meter: Meter | None = None) -> str:
        """Send a request; "answered", "timeout", "output", "died" or "protocol"."""
        child = self._child
        assert child is not None
        try:
            socket.send_fds(
                child.channel, [wire.REQUEST_MESSAGE.pack(slab.size)], [slab.descriptor]
            )
        except OSError:
            return "died"
        poll = select.poll()
        for descriptor in (child.channel.fileno(), child.output, self.launcher.sock.fileno()):
            poll.register(descriptor, select.POLLIN)
        while True:
            # The set-up is ours, and not charged: the clock starts when the process is ready.
            allowed = seconds if self._ready else SETUP_SECONDS
            left = began + allowed - time.monotonic()
            if left <= 0:
                return "timeout"
            wait = left
            if meter is not None and not meter.exact:
                meter.sample()
                wait = min(left, SAMPLING)
            ready = {descriptor for descriptor, _ in poll.poll(wait * 1000)}
            if child.output in ready and not self._drain(poll):
                return "output"
            if child.channel.fileno() in ready:
                signs = _receive(child.channel)
                if not signs:
                    return "died"
                for sign in signs:
                    if sign == wire.READY and not self._ready:
                        self._ready, began = True, time.monotonic()
                    elif sign == wire.REFUSED:
                        self._refused = True
                    elif sign == wire.DONE:
                        return "answered" if self._drain(poll, all_of_it=True) else "output"
                    else:
                        return "protocol"
            elif self.launcher.sock.fileno() in ready:
                self.launcher.pump()
                if child.number in self.launcher.exits:
                    return "died"

    def _drain(self, poll: select.poll, all_of_it: bool = False) -> bool:
        """Read what was printed. False when it is more than the limit."""
        child = self._child
        assert child is not None
        while True:
            try:
                data = os.read(child.output, 1 << 16)
            except BlockingIOError:
                return True
            if not data:  # the submission shut its output; a closed pipe is always "ready"
                with contextlib.suppress(KeyError):
                    poll.unregister(child.output)
                return True
            self.output.feed(data)
            if self.output.total > self.limits.output_bytes:
                return False
            if not all_of_it:
                return True

    def _ended(self, end: str, outcome: Outcome) -> Outcome:
        """What an exchange without an answer means; the process is gone afterwards."""
        child = self._child
        assert child is not None
        if not self._ready:
            raise IsolationFault("a submission's process could not be set up")
        if end == "timeout":
            detail: dict[str, Any] = {"limit": self.limits.seconds}
            return replace(outcome, status="timeout", detail=detail)
        if end == "output":
            return replace(outcome, status="output", detail={"limit": self.limits.output_bytes})
        if end == "protocol":
            return replace(outcome, status="protocol", error="bytes on the channel are not ours")
        # A closed channel need not mean a dead process: the submission may have shut it.
        exit_ = self._await_exit(child)
        if exit_ is None:
            return replace(outcome, status="protocol", error="the submission shut our channel")
        self._drain(select.poll(), all_of_it=True)
        return self._died(exit_, outcome)

    def _await_exit(self, child: Child) -> Exit | None:
        deadline = time.monotonic() + 1.0
        while child.number not in self.launcher.exits:
            left = deadline - time.monotonic()
            if left <= 0 or not select.select([self.launcher.sock], [], [], left)[0]:
                return None
            self.launcher.pump()
        return self.launcher.exits[child.number]

    def _died(self, exit_: Exit, outcome: Outcome) -> Outcome:
        code = exit_.code or 0
        if code in BREACHES:
            return replace(outcome, status="protocol", error=BREACHES[code])
        if code == wire.NO_FILES:
            return replace(outcome, status="died", detail={"limit": "files"})
        near_limit = exit_.resident_bytes > self.limits.memory_bytes // 2
        said_so = b"bad_alloc" in self.output.tail or b"MemoryError" in self.output.tail
        if code == wire.NO_MEMORY or (exit_.signal in CRASH_SIGNALS and (near_limit or said_so)):
            return replace(outcome, status="memory", detail={"limit": self.limits.memory_bytes})
        if exit_.signal is not None:
            return replace(outcome, status="died", detail={"signal": exit_.signal})
        return replace(outcome, status="died", detail={"exit": code})

    def _forbidden(self, slab: Slab, outcome: Outcome) -> Outcome:
        try:
            operation, line = slab.forbidden()
        except BrokenAnswer:
            operation, line = "", None
        if not operation:  # what is refused has a name: this byte was not ours
            return replace(outcome, status="protocol", error="a refusal without an operation")
        return replace(
            outcome,
            status="forbidden",
            line=line or outcome.line,
            detail={"op": operation, "instead_of": outcome.status},
        )

    def _end(self) -> None:
        child, self._child = self._child, None
        assert child is not None
        self.launcher.end(child)


class _Output:
    """What a submission prints: counted over its life, the first and last 8 KiB of each call."""

    def __init__(self) -> None:
        self.total = 0
        self.begin()

    def begin(self) -> None:
        self.head, self.tail, self.here = b"", b"", 0

    def feed(self, data: bytes) -> None:
        self.total += len(data)
        self.here += len(data)
        room = KEPT_BYTES - len(self.head)
        self.head += data[:room] if room > 0 else b""
        self.tail = (self.tail + data)[-KEPT_BYTES:]

    def text(self) -> str:
        left_out = self.here - len(self.head) - len(self.tail)
        if left_out > 0:
            return f"{clean(self.head)}\n[... {left_out} bytes left out ...]\n{clean(self.tail)}"
        rest = self.here - len(self.head)
        return clean(self.head + (self.tail[-rest:] if rest else b""))


def _with_text(outcome: Outcome, fixed: Fixed) -> Outcome:
    statuses: dict[str, Status] = {
        "exception": "exception",
        "memory": "memory",
        "syntax": "syntax",
        "missing": "missing",
        "not-callable": "not-callable",
    }
    return replace(
        outcome,
        status=statuses.get(fixed.status, outcome.status),
        error=fixed.error,
        traceback=fixed.traceback,
        line=fixed.line,
    )


def _receive(channel: socket.socket) -> list[bytes]:
    try:
        data = channel.recv(4096)
    except ConnectionError:
        return []
    return [bytes([byte]) for byte in data]
