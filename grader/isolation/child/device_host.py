"""The submission's process where it runs on a device: arguments go there, answers come back.

Every call gets its numbers in memory that it saw before, in place of the last ones; the memory that
results are likely to get holds NaN; results are copied in the order of the device's own work, right
behind the call. What a call did to its arguments is looked at where it is not timed. A timed call
waits for the judge's word once its arguments are on the device, and tells when all work is done:
the time that counts is held against the judge's own clock.
"""

from __future__ import annotations

import mmap
import socket
from collections.abc import Callable
from functools import partial
from os import _exit
from typing import Any

import torch

from . import answers, values, wire
from .answers import Answer
from .devices import DEVICES, Device
from .host import Host

POISONED = 4  # blocks of each result's size


class DeviceHost(Host):
    """A host whose submission computes on `device`."""

    def __init__(self, channel: socket.socket, scratch: str, device: Device) -> None:
        super().__init__(channel, scratch)
        self.device = device
        self.placed: dict[int, torch.Tensor] = {}  # arguments of the last call, by their places

    def is_there(self, answer: Answer) -> bool:
        try:
            self.device.begin()
        except Exception as error:
            answer.fail("no-device", answers.summary(error))
            return False
        return True

    def call(self, slab: mmap.mmap, request: dict[str, Any], answer: Answer) -> None:
        """As on the CPU, but without gradients and counts of operations."""
        if self.entry is None:
            raise RuntimeError("the submission is not loaded")
        given = request["args"]
        arguments = [self.place(slab, n, argument) for n, argument in enumerate(given)]
        positional = arguments[: request["positional"]]
        keywords = dict(zip(request["keywords"], arguments[len(positional) :], strict=True))
        before = [values.fingerprint(argument) for argument in arguments]
        self.poison(request["outputs"])
        run = partial(self.entry, *positional, **keywords)
        result, copies = self.measured(slab, request, run)
        for n, argument in enumerate(arguments):
            if values.fingerprint(argument) != before[n]:
                answer.changed |= 1 << n
            elif isinstance(argument, torch.Tensor) and request["measure"] != "time":
                values.open_buffer(slab, given[n], given[n]["dtype"]).copy_(argument)
        answer.overwrote = any(kept.overwritten() for kept in self.given)
        returned = values.as_values(result, len(request["outputs"]))
        for index, value in enumerate(returned[: wire.MAX_VALUES]):
            described = values.describe(value, self.device.place)
            copied = index < len(request["outputs"]) and values.copy_out(
                slab, copies.get(index), described, request["outputs"][index], self.framework
            )
            answer.value(described, index if copied else -1)
        answer.values = len(returned)
        self.given = []
        if request["measure"] == "time":
            spoil(returned)  # whoever keeps a result to return it again returns this
        else:
            self.given = values.keep(returned[: len(request["outputs"])], self.device.place)

    def place(self, slab: mmap.mmap, n: int, argument: dict[str, Any]) -> Any:
        """An argument on the device, in the memory of the last call's, where it fits there."""
        if "value" in argument:
            return argument["value"]
        tensor = values.open_buffer(slab, argument, argument["dtype"])
        if argument["strided"]:
            return values.strided(tensor.to(self.device.place, copy=True))
        old = self.placed.get(n)
        if old is None or (old.shape, old.dtype) != (tensor.shape, tensor.dtype):
            old = self.placed[n] = tensor.to(self.device.place, copy=True)
        else:
            old.copy_(tensor)
        # An alias: what the submission does to the object itself must not reach the next call.
        return old.detach()

    def poison(self, outputs: list[dict[str, Any]]) -> None:
        """NaN in the memory that results are likely to get."""
        for spec in outputs:
            kind = getattr(torch, spec["dtypes"][0])
            value = torch.nan if kind.is_floating_point else -1
            if kind is not torch.bool:
                blocks = [
                    torch.full(spec["shape"], value, dtype=kind, device=self.device.place)
                    for _ in range(POISONED)
                ]
                del blocks

    def measured(
        self, slab: mmap.mmap, request: dict[str, Any], run: Callable[[], Any]
    ) -> tuple[Any, dict[int, torch.Tensor]]:
        """The result, and copies of its tensors made in the device's order; what it took is
        written."""
        device, seconds, peak, kernels = self.device, 0.0, 0, 0
        expected = len(request["outputs"])
        if request["measure"] == "time":
            device.settle()
            self.await_word()
            device.lead()
            first = device.mark()
            result = run()
            second = device.mark()
            copies = self.copied(result, expected)
            device.synchronize()
            self.channel.sendall(wire.COMPUTED)
            seconds = device.between(first, second)
        else:
            if request["measure"] == "memory":
                result, peak = device.peak(run)
            elif request["measure"] == "kernels":
                result, kernels = device.kernels(run)
            else:
                result = run()
            copies = self.copied(result, expected)
            device.synchronize()
        answers.device(slab, max(0.0, seconds), peak, kernels)
        return result, copies

    def copied(self, result: Any, expected: int) -> dict[int, torch.Tensor]:
        """Of the plain tensors that belong on the device, before anything later runs there."""
        copies = {}
        for index, value in enumerate(values.as_values(result, expected)[:expected]):
            if values.describe(value, self.device.place).kind == wire.KIND_TENSOR:
                copies[index] = value.detach().clone()
        return copies

    def await_word(self) -> None:
        """Say that the arguments are there, and wait until the judge lets the call begin."""
        self.channel.sendall(wire.PREPARED)
        if self.channel.recv(1) != wire.GO:
            _exit(wire.NO_CHANNEL)


def spoil(returned: list[Any]) -> None:
    """Write NaN over what was returned."""
    for value in returned:
        if type(value) is torch.Tensor and value.is_floating_point() and not value.requires_grad:
            value.fill_(torch.nan)


def host_on(accelerator: str) -> Callable[[socket.socket, str], Host]:
    """What answers for a submission on that device."""
    return lambda channel, scratch: DeviceHost(channel, scratch, DEVICES[accelerator]())
