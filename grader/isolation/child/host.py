"""The submission's process: takes requests from the judge, one slab each, and answers them."""

from __future__ import annotations

import errno
import json
import mmap
import os
import socket
import sys
from collections.abc import Callable
from os import _exit  # by this name: the submission may replace the one in os
from types import CoroutineType
from typing import Any, NoReturn

import torch

from . import (
    allocator,
    answers,
    builds,
    counting,
    forbidden,
    imports,
    interpreter,
    sandbox,
    values,
    wire,
)
from .answers import Answer
from .counting_recorded import recorded
from .imports import ImportGuard
from .source import load

SEED = 0
"""Of torch's random numbers when the file is loaded: what draws is judged the same every time."""


class Host:
    """One submission: its entry once loaded, and how its values are to look."""

    def __init__(self, channel: socket.socket, scratch: str) -> None:
        self.channel = channel
        self.scratch = scratch
        self.entry: Callable[..., Any] | None = None
        self.filename = ""
        self.framework = "torch"
        self.arguments: dict[int, list[Any]] = {}  # of the last call, by their places
        self.spent: dict[int, torch.Tensor] = {}  # those to be used again
        self.given: list[values.Kept] = []  # what the call before returned, and its bytes

    def serve(self, listener: int | None) -> NoReturn:
        """Say that the process is set up, then answer until the judge shuts its end.

        `listener` is for the judge: by it the judge answers the calls that the filter denies.

        What fails here was broken by the submission: an exit code says it, and no traceback.
        """
        code = wire.BROKEN
        try:
            if listener is None:
                self.channel.sendall(wire.READY)
            else:
                socket.send_fds(self.channel, [wire.READY], [listener])
                os.close(listener)
            while True:
                slab = self.receive()
                self.answer(slab)
                for name in ("stdout", "stderr"):
                    _flush(name)
                self.channel.sendall(wire.DONE)
                # The next slab is to lie where this one did, so that what remembers a result by
                # address meets other numbers: let go of all that holds it.
                self.spent |= values.spend(self.arguments)
                self.arguments = {}
                forbidden.refuse.report = None
                del slab
        except MemoryError:
            code = wire.NO_MEMORY
        except OSError as error:
            code = wire.NO_MEMORY if error.errno == errno.ENOMEM else wire.NO_CHANNEL
        finally:
            _exit(code)

    def receive(self) -> mmap.mmap:
        """The slab of the next request."""
        message, descriptors, flags, _ = socket.recv_fds(self.channel, wire.REQUEST_MESSAGE.size, 1)
        if not message:
            _exit(0)
        if not descriptors:
            _exit(wire.NO_FILES if flags & socket.MSG_CTRUNC else wire.NO_CHANNEL)
        (size,) = wire.REQUEST_MESSAGE.unpack(message)
        slab = mmap.mmap(descriptors[0], size)
        os.close(descriptors[0])
        return slab

    def answer(self, slab: mmap.mmap) -> None:
        """One request. Whatever the submission raises, the slab holds an answer afterwards."""
        (length,) = wire.REQUEST_LENGTH.unpack_from(slab, wire.REQUEST_AT)
        start = wire.REQUEST_AT + wire.REQUEST_LENGTH.size
        request = json.loads(slab[start : start + length])
        forbidden.refuse.report = lambda operation, line: self.refused(slab, operation, line)
        if "entry" in request:
            self.filename = forbidden.refuse.filename = request["filename"]
            self.framework = request["framework"]
        answer = Answer(slab, self.filename)
        try:
            if "entry" in request:
                if not self.is_there(answer):
                    answer.finish()
                    return
                torch.default_generator.manual_seed(SEED)
                for name, at, size in request["built"]:
                    builds.put(self.scratch, name, slab[at : at + size])
                source = slab[request["at"] : request["at"] + request["bytes"]]
                self.entry = load(source, request["entry"], answer)
            else:
                self.call(slab, request, answer)
                if request["measure"] == "memory":
                    allocator.give_back_freed()
        except BaseException as error:
            try:
                answer.exception(error)
            except BaseException:  # what the submission raised fights back
                answer.fail("exception", answers.UNSHOWN)
        answer.finish()

    def is_there(self, answer: Answer) -> bool:
        """Whether the device is, before anything is loaded; if not, `answer` says why."""
        del answer
        return True

    def call(self, slab: mmap.mmap, request: dict[str, Any], answer: Answer) -> None:
        """Call the entry, copy what fits, take gradients, and look for changed arguments."""
        if self.entry is None:
            raise RuntimeError("the submission is not loaded")
        arguments = [
            values.open_argument(slab, argument, self.framework, self.spent.pop(n, None))
            for n, argument in enumerate(request["args"])
        ]
        positional = arguments[: request["positional"]]
        keywords = dict(zip(request["keywords"], arguments[len(positional) :], strict=True))
        before = [values.fingerprint(argument) for argument in arguments]
        if request["measure"] == "memory":
            allocator.free_at_once()
        elif request["measure"] == "time":
            allocator.keep_freed()
        launched = interpreter.launches
        try:
            if request["count"]:
                count = recorded if request["recorded"] else counting.counted
                result, counts = count(self.entry, positional, keywords, self.filename)
                answers.counts(slab, counts)
            else:
                result = self.entry(*positional, **keywords)
        finally:
            for index, argument in enumerate(arguments):
                if values.fingerprint(argument) != before[index]:
                    answer.changed |= 1 << index
        answer.launches = interpreter.launches - launched
        answer.overwrote = any(kept.overwritten() for kept in self.given)
        outputs = request["outputs"]
        returned = values.as_values(result, len(outputs))
        fits = 0
        for index, value in enumerate(returned[: wire.MAX_VALUES]):
            if type(value) is CoroutineType:
                value.close()  # or Python warns, with a line of ours, that nobody awaited it
            described = values.describe(value)
            copied = index < len(outputs) and values.copy_out(
                slab, value, described, outputs[index], self.framework
            )
            fits += copied
            answer.value(described, index if copied else -1)
        answer.values = len(returned)
        if not request["gradients"]:  # a graph may hold what no name does
            self.arguments = {n: [argument] for n, argument in enumerate(arguments)}
        self.given = values.keep(returned[: len(outputs)])
        if request["gradients"] and fits == len(outputs) == len(returned):
            inputs = [positional[index] for index in request["gradients"]]
            self.backward(slab, request, answer, returned, inputs)

    def backward(
        self,
        slab: mmap.mmap,
        request: dict[str, Any],
        answer: Answer,
        returned: list[torch.Tensor],
        inputs: list[torch.Tensor],
    ) -> None:
        """Gradients into their buffers; a failure is written, not raised: the values stand."""
        cotangents = [
            None if buffer is None else values.open_buffer(slab, buffer, buffer["dtype"])
            for buffer in request["cotangents"]
        ]
        try:
            found = values.gradients(returned, cotangents, inputs)
        except ValueError as error:
            answer.text(wire.GRADIENT_ERROR, str(error))
            return
        except forbidden.ForbiddenOperation:
            raise
        except Exception as error:
            if answers.is_memory(error):
                raise
            answer.text(wire.GRADIENT_ERROR, answers.summary(error))
            return
        for index, gradient in enumerate(found):
            if gradient is not None:
                buffer = request["gradient_buffers"][index]
                with torch.no_grad():
                    values.open_buffer(slab, buffer, buffer["dtype"]).copy_(gradient)
                answer.present |= 1 << index

    def refused(self, slab: mmap.mmap, operation: str, line: int) -> None:
        """Tell the judge of a ruled-out operation while it is refused."""
        answers.forbidden(slab, operation, line)
        self.channel.sendall(wire.REFUSED)


def run(
    channel: int,
    output: int,
    parent: int,
    scratch: str,
    memory_bytes: int,
    file_bytes: int,
    groups: list[str],
    policy: dict[str, Any],
) -> NoReturn:
    """The life of a fresh child of the process `parent`; it never returns."""
    sandbox.die_with_parent(parent)
    os.setsid()
    host_of = kind_of_host(policy["accelerator"])  # before our files are closed
    guard = ImportGuard()
    sys.meta_path.insert(0, guard)
    # Before standard error is the submission's: torch warns of every override.
    forbidden.install(groups, guard)
    sandbox.keep_only(channel, output)
    sandbox.enter_scratch(scratch, policy["uid"])
    bound = memory_bytes if policy["bounds_memory"] else None  # else the judge looks
    files = sandbox.DRIVER_FILES if policy["accelerator"] else sandbox.OPEN_FILES
    sandbox.limit(bound, file_bytes, policy["processes"], files)
    sandbox.close_files(policy, scratch)
    sandbox.become(policy["uid"], policy["landlock"] > 0, policy["compiles"])
    imports.close_our_files()
    torch.set_num_threads(1)
    sys.stdin = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115
    for name, descriptor in (("stdout", 1), ("stderr", 2)):
        # By the line, so that little is lost when the process is killed.
        stream = open(descriptor, "w", 1, "utf-8", "backslashreplace", closefd=False)  # noqa: SIM115
        setattr(sys, name, stream)
        setattr(sys, f"__{name}__", stream)
    os.environ.update(policy["environment"])
    if policy["compiles"]:
        builds.install(guard, scratch)
    host = host_of(socket.socket(fileno=sandbox.CHANNEL_FD), scratch)
    host.serve(sandbox.filter_calls(policy))


def kind_of_host(accelerator: str) -> Callable[[socket.socket, str], Host]:
    """What answers for a submission on the CPU, or on a GPU."""
    if not accelerator:
        return Host
    from . import device_host

    return device_host.host_on(accelerator)


def _flush(name: str) -> None:
    try:
        getattr(sys, name).flush()
    except BaseException:
        return  # the submission closed or replaced it: nothing of ours is lost
