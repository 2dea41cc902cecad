"""The judge's handle on one submission: load it, call it, and learn from outside how that went."""

from __future__ import annotations

import contextlib
import fcntl
import math
import os
import select
import socket
import sys
import termios
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from grader.isolation import endings
from grader.isolation.built import Built
from grader.isolation.calls import FATAL, Call, Limits, Outcome, Taken
from grader.isolation.child import wire
from grader.isolation.denials import Listener
from grader.isolation.launcher import Child, Exit, IsolationFault, Launcher
from grader.isolation.output import Output
from grader.isolation.resident import resident_bytes
from grader.isolation.scratch import is_over
from grader.isolation.slab import BrokenAnswer, CallSlab, Fixed, Slab, load_slab
from grader.isolation.usage import Meter, threads

LOAD_ONLY = frozenset({"syntax", "missing", "not-callable", "no-device"})
SETUP_SECONDS = 20.0
LOOKING = 0.1  # seconds between two looks at its folder, its memory and its threads
SAMPLING = 0.001  # seconds between two looks at the memory of a process
DYING = 0.8  # seconds for a process whose channel is shut to be dead, and reaped


class Worker:
    """One submission's process. Use as a context manager: on exit the process is killed.

    `framework` is "torch" or "numpy"; `forbidden` names groups of `control.GROUPS`; `filename` is
    what tracebacks show. `on_answer` is called after each answer, as a sign of life. `built` is
    what the submission's processes share of compiled code.
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
        built: Built | None = None,
    ) -> None:
        self.launcher = launcher
        self.source = source
        self.entry = entry
        self.framework = framework
        self.limits = limits or Limits()
        self.forbidden = forbidden
        self.filename = filename
        self.on_answer = on_answer
        self.built = built or Built()
        self.output = Output()
        self._child: Child | None = None
        self._listener: Listener | None = None
        self._denied: dict[str, None] = {}  # what was tried in vain in this exchange
        self._pace: dict[bytes, float] = {}  # when each sign of a timed call on a device came
        self._last: float | None = None  # processor time when a measured call ended
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
        files = self.built.files
        slab = load_slab(self.source, self.entry, self.filename, self.framework, files)
        outcome = self._exchange(slab, lambda fixed: Outcome("returned"))
        if outcome.status == "returned" and self.launcher.compiles and self._child is not None:
            self.built.take(self._child.scratch)
        return outcome

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
                launches=fixed.launches,
                counts=slab.counts(),
                taken=self._taken(slab) if on_device and call.measure else None,
            )

        on_device = bool(self.launcher.accelerator)
        timed = on_device and call.measure == "time"
        metered = bool(call.measure) and not on_device
        return self._exchange(slab, read, call.seconds, metered, timed)

    def _taken(self, slab: CallSlab) -> Taken:
        seconds, peak, kernels = slab.device()
        if len(self._pace) < 3:
            return Taken(seconds, peak, kernels)
        begun, computed, done = (
            self._pace[sign] for sign in (wire.PREPARED, wire.COMPUTED, wire.DONE)
        )
        return Taken(seconds, peak, kernels, computed - begun, done - computed)

    def _exchange(
        self,
        slab: Slab,
        read: Callable[[Fixed], Outcome],
        seconds: float = math.inf,
        measure: bool = False,
        timed: bool = False,
    ) -> Outcome:
        if self._child is None:
            return Outcome("died", error="the process had ended already", detail={"already": True})
        self._refused = False
        self._denied, self._pace = {}, {}
        self.output.begin()
        meter = Meter(self._child.pid, self._last) if measure else None
        child_scratch = self._child.scratch
        with slab:
            if meter is not None:
                meter.begin()
            began = time.monotonic()
            end = self._ask(slab, began, min(seconds, self.limits.seconds), meter, timed)
            outcome = Outcome("returned", seconds=time.monotonic() - began)
            usage = None
            if meter is not None:
                usage, self._last = meter.end(), meter.ended
            if end == "answered":
                try:
                    fixed = slab.fixed()
                    # Values first: a thread of the submission may still be writing.
                    outcome = replace(read(fixed), seconds=outcome.seconds, usage=usage)
                    outcome = endings.with_text(outcome, fixed)
                except BrokenAnswer as error:
                    outcome = replace(outcome, status="protocol", error=str(error))
            else:
                outcome = self._ended(end, outcome)
            if self._refused:
                outcome = self._forbidden(slab, outcome)
            outcome = replace(outcome, denials=tuple(self._denied))
            if outcome.status == "exception":
                outcome = endings.limited(outcome)
            if outcome.status == "exception" and self.launcher.sealed:
                outcome = endings.refused(outcome, child_scratch, self.launcher.told)
        if self._child is not None and (outcome.status in FATAL or end != "answered"):
            self._end()
        self.on_answer()
        return replace(outcome, stdout=self.output.text())

    def _ask(
        self,
        slab: Slab,
        began: float,
        seconds: float,
        meter: Meter | None = None,
        timed: bool = False,
    ) -> str:
        """Send a request; "answered", "timeout", "output", "disk", "memory", "threads", "died",
        "protocol"."""
        child = self._child
        assert child is not None
        try:
            socket.send_fds(
                child.channel, [wire.REQUEST_MESSAGE.pack(slab.size)], [slab.descriptor]
            )
        except OSError:
            return "died"
        look = began + LOOKING
        poll = select.poll()
        if self._listener is not None:
            poll.register(self._listener.descriptor, select.POLLIN)
        for descriptor in (child.channel.fileno(), child.output, self.launcher.sock.fileno()):
            poll.register(descriptor, select.POLLIN)
        while True:
            # The set-up is ours, and not charged: the clock starts when the process is ready.
            allowed = seconds if self._ready else SETUP_SECONDS
            left = began + allowed - time.monotonic()
            if left <= 0:
                return "timeout"
            wait = min(left, LOOKING)
            if time.monotonic() > look:
                look = time.monotonic() + LOOKING
                if is_over(child.scratch, self.limits.file_bytes):
                    return "disk"
                if self._holds_too_much(child):
                    return "memory"
                # Where a listener counts, there are never too many.
                if self._listener is None and threads(child.pid) > self.limits.threads:
                    return "threads"
            if meter is not None and not meter.exact:
                meter.sample()
                wait = min(left, SAMPLING)
            ready = dict(poll.poll(wait * 1000))
            self._answer_calls(poll, ready)
            if child.output in ready and not self._drain(poll):
                return "output"
            if child.channel.fileno() in ready:
                signs, listener = _receive(child.channel, self._ready)
                if not signs:
                    return "died"
                for sign in signs:
                    if sign == wire.READY and not self._ready:
                        self._ready, began = True, time.monotonic()
                        self._listen(poll, listener)
                    elif sign == wire.REFUSED:
                        self._refused = True
                    elif timed and sign == (wire.COMPUTED if self._pace else wire.PREPARED):
                        self._pace[sign] = time.monotonic()
                        timed = sign == wire.PREPARED
                        if timed and not _go(child):
                            return "died"
                    elif sign == wire.DONE:
                        self._pace[sign] = time.monotonic()
                        return "answered" if self._drain(poll, all_of_it=True) else "output"
                    else:
                        return "protocol"
            elif self.launcher.sock.fileno() in ready:
                self.launcher.pump()
                if child.number in self.launcher.exits:
                    return "died"

    def _holds_too_much(self, child: Child) -> bool:
        """Whether its memory is over the limit, where the system itself keeps none."""
        if self.launcher.bounds_memory:
            return False
        return resident_bytes(child.pid) > self.limits.memory_bytes

    def _listen(self, poll: select.poll, descriptors: list[int]) -> None:
        """Take the descriptor that came with the first sign, before any of its code ran."""
        child = self._child
        assert child is not None
        if descriptors:
            tried = self.launcher.tried
            most, compiles = self.limits.threads, self.launcher.compiles
            self._listener = Listener(descriptors[0], child.pid, tried, most, compiles)
            poll.register(descriptors[0], select.POLLIN)

    def _answer_calls(self, poll: select.poll, ready: Mapping[int, int]) -> None:
        listener = self._listener
        if listener is None or listener.descriptor not in ready:
            return
        if ready[listener.descriptor] & select.POLLIN:
            what = listener.answer()
            if what is not None:
                self._denied.pop(what, None)  # the last is the last
                self._denied[what] = None
        else:  # all its threads are gone
            poll.unregister(listener.descriptor)

    def _drain(self, poll: select.poll, all_of_it: bool = False) -> bool:
        """Read what was printed. False when it is more than the limit."""
        child = self._child
        assert child is not None
        # No more than was there: a thread of the submission may go on printing, byte by byte, and
        # what comes after its answer belongs to the next.
        left = _waiting(child.output) if all_of_it else 1 << 16
        while left > 0:
            try:
                data = os.read(child.output, min(left, 1 << 16))
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
            left -= len(data)
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
        if end == "disk":
            return replace(outcome, status="resource", detail={"limit": "disk"})
        if end == "threads":
            return replace(outcome, status="resource", detail={"limit": "processes"})
        if end == "protocol":
            return replace(outcome, status="protocol", error="bytes on the channel are not ours")
        if end == "memory":
            return replace(outcome, status="memory", detail={"limit": self.limits.memory_bytes})
        # A closed channel need not mean a dead process: the submission may have shut it.
        exit_ = self._await_exit(child)
        if exit_ is None:
            return replace(outcome, status="protocol", error="the submission shut our channel")
        self._drain(select.poll(), all_of_it=True)
        return endings.died(exit_, outcome, self.limits, self.output.tail)

    def _await_exit(self, child: Child) -> Exit | None:
        deadline = time.monotonic() + DYING
        while child.number not in self.launcher.exits:
            left = deadline - time.monotonic()
            if left <= 0 or not select.select([self.launcher.sock], [], [], left)[0]:
                return None
            self.launcher.pump()
        return self.launcher.exits[child.number]

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
        if self._listener is not None:
            self._listener.close()
            self._listener = None


def _go(child: Child) -> bool:
    """Let a timed call begin, whose arguments are on the device. False: its process is gone."""
    with contextlib.suppress(OSError):
        child.channel.sendall(wire.GO)
        return True
    return False


def _waiting(pipe: int) -> int:
    """Bytes that can be read from it by now."""
    count = bytearray(4)
    fcntl.ioctl(pipe, termios.FIONREAD, count)
    return int.from_bytes(count, sys.byteorder)


def _receive(channel: socket.socket, ready: bool) -> tuple[list[bytes], list[int]]:
    """Signs, and the descriptor that comes with the first; later ones are not ours."""
    try:
        data, descriptors, _, _ = socket.recv_fds(channel, 4096, 1)
    except ConnectionError:
        return [], []
    if ready:
        for descriptor in descriptors:
            os.close(descriptor)
        descriptors = []
    return [bytes([byte]) for byte in data], descriptors
