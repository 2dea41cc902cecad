"""Tensors and arrays over the slab's memory: arguments out of it, answers into it."""

from __future__ import annotations

import math
import mmap
import sys
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from . import wire

KEPT = 1 << 20
"""Entries up to which a returned value is remembered until the next call."""

SIMPLE = frozenset({"bool", "int64", "float32", "float64", "bfloat16", "float16"})

Buffer = dict[str, Any]  # {"dtype": name, "shape": [...], "at": offset}; written by the judge


@dataclass(frozen=True)
class Described:
    """A returned value as its header shows it."""

    kind: int
    dtype: str = ""
    shape: tuple[int, ...] = ()
    name: str = ""


def open_buffer(slab: mmap.mmap, buffer: Buffer, dtype: str) -> torch.Tensor:
    """A contiguous CPU tensor of the buffer's shape and `dtype` that lives in the slab."""
    kind = getattr(torch, dtype)
    shape = tuple(buffer["shape"])
    count = 1
    for size in shape:
        count *= size
    if count == 0:  # torch.frombuffer refuses an empty range
        return torch.empty(shape, dtype=kind, device="cpu")
    flat = torch.frombuffer(slab, dtype=kind, count=count, offset=buffer["at"])
    # Not flat.view(shape): autograd treats views apart, and an argument is an ordinary tensor.
    fresh = torch.empty(0, dtype=kind, device="cpu")
    return fresh.set_(flat.untyped_storage(), 0, shape, flat.view(shape).stride())


def open_argument(
    slab: mmap.mmap, argument: dict[str, Any], framework: str, spent: torch.Tensor | None
) -> Any:
    """An ordinary argument: a leaf tensor or an array over the slab, or the plain value itself.

    `spent` is an argument of an earlier call (see `spend`): the same object comes again with the
    new numbers, as it may wherever memory is used again, so that what was remembered by an object's
    id is found out at once, and not by chance.
    """
    if "value" in argument:
        return argument["value"]
    tensor = open_buffer(slab, argument, argument["dtype"])
    if argument["strided"]:
        return strided(tensor)
    if framework == "numpy":
        return tensor.numpy()
    if argument["gradient"]:
        return tensor.requires_grad_()
    if spent is None or spent.dtype != tensor.dtype:
        return tensor
    return spent.set_(tensor)  # type: ignore[call-overload]


def strided(tensor: torch.Tensor) -> torch.Tensor:
    """The same numbers as serving code has them, not contiguous: (B, H, T, D) out of a memory of
    (B, T, H, 2 * D), the way queries and keys come from one projection; else a part of each row."""
    if tensor.dim() < 2:
        return tensor
    wide = tensor.new_zeros((*tensor.shape[:-1], 2 * tensor.shape[-1]))
    if tensor.dim() == 4:
        wide = wide.transpose(1, 2).contiguous().transpose(1, 2)
    part = wide[..., : tensor.shape[-1]]
    return part.copy_(tensor)


def spend(arguments: dict[int, list[Any]]) -> dict[int, torch.Tensor]:
    """Those tensors that nobody else holds, emptied: what they lay in can be unmapped, and the next
    arguments lie there."""
    spent = {}
    for place, held in arguments.items():
        references, value = _popped(held)
        plain = type(value) is torch.Tensor and not (value.requires_grad or value.__dict__)
        if plain and references == ALONE:
            spent[place] = value.set_()
    return spent


def _popped(spent: list[Any]) -> tuple[int, Any]:
    """The last of the list, and how many references there are to it while this function looks."""
    last = spent.pop()
    return sys.getrefcount(last), last


ALONE = _popped([object()])[0]
"""References to what nobody else holds: Pythons count their own differently."""


def fingerprint(value: Any) -> tuple[Any, ...]:
    """What a change of metadata (t_, resize_, .data = ...) would move. () for a plain value."""
    if isinstance(value, torch.Tensor):
        return (value.data_ptr(), tuple(value.shape), value.stride(), value.dtype)
    if isinstance(value, np.ndarray):
        return (value.__array_interface__["data"][0], value.shape, value.strides, value.dtype)
    return ()


def as_values(result: Any, expected: int) -> list[Any]:
    """The returned values: the items of a tuple or a list where several outputs are expected."""
    if expected > 1 and isinstance(result, (tuple, list)):
        return list(result)
    return [result]


def describe(value: Any, place: str = "cpu") -> Described:
    """Kind, dtype and shape. Only exact types are plain: a subclass could answer as it likes. A
    tensor belongs in the memory of `place`."""
    # Never `in`, which asks the type's own type whether it is equal.
    if type(value) is torch.Tensor or type(value) is torch.nn.Parameter:
        return _describe_tensor(value, place)
    if isinstance(value, torch.Tensor):
        return Described(wire.KIND_OTHER, name="Tensor subclass")
    if type(value) is np.ndarray:
        return Described(wire.KIND_ARRAY, value.dtype.name, value.shape)
    return Described(wire.KIND_OTHER, name="None" if value is None else _type_name(value))


def _type_name(value: Any) -> str:
    # Not type(value).__name__: a metaclass may answer anything, or raise.
    return str(type.__dict__["__name__"].__get__(type(value)))


def _describe_tensor(value: torch.Tensor, place: str) -> Described:
    dtype = str(value.dtype).removeprefix("torch.")
    if value.is_nested:  # it has no shape to be asked for
        return Described(wire.KIND_OTHER, dtype, name="nested")
    shape = tuple(value.shape)
    if value.layout != torch.strided:
        layout = str(value.layout).removeprefix("torch.").strip("_")
        kind = "sparse" if layout.startswith("sparse") else layout
        return Described(wire.KIND_OTHER, dtype, shape, kind)
    if value.device.type != place:
        return Described(wire.KIND_OTHER, dtype, shape, value.device.type)
    return Described(wire.KIND_TENSOR, dtype, shape)


def copy_out(
    slab: mmap.mmap, value: Any, described: Described, buffer: Buffer, framework: str
) -> bool:
    """Copy a value into its buffer if framework, shape and dtype are as asked; else leave it."""
    plain = wire.KIND_ARRAY if framework == "numpy" else wire.KIND_TENSOR
    if described.kind != plain or list(described.shape) != buffer["shape"]:
        return False
    if described.dtype not in buffer["dtypes"]:
        return False
    target = open_buffer(slab, buffer, described.dtype)
    with torch.no_grad():
        if framework == "numpy":
            np.copyto(target.numpy(), value)
        else:
            target.copy_(value.detach())
    return True


@dataclass(frozen=True)
class Kept:
    """A returned value, and the bytes that it held: a later call may not write into it."""

    value: Any
    held: bytes

    def overwritten(self) -> bool:
        return _bytes(self.value) != self.held


def keep(returned: list[Any], place: str = "cpu") -> list[Kept]:
    """The plain dense values among those returned, but for large ones."""
    plain = [(value, describe(value, place)) for value in returned]
    return [
        Kept(value, _bytes(value))
        for value, described in plain
        if described.kind != wire.KIND_OTHER
        and described.dtype in SIMPLE
        and math.prod(described.shape) <= KEPT
    ]


def _bytes(value: Any) -> bytes:
    """Also of a NaN, which is not equal to itself."""
    if isinstance(value, torch.Tensor):
        # Whatever the strides are, and the submission's own default device.
        fresh = torch.empty(value.shape, dtype=value.dtype, device="cpu")
        value = fresh.copy_(value.detach()).flatten().view(torch.uint8).numpy()
    return bytes(value.tobytes())


def gradients(
    outputs: list[Any], cotangents: list[torch.Tensor | None], inputs: list[torch.Tensor]
) -> list[torch.Tensor | None]:
    """d sum(output * cotangent) / d input, None where the graph does not reach an input.

    Raises ValueError, with a sentence for the learner, where an output has no graph.
    """
    pairs = [(y, c) for y, c in zip(outputs, cotangents, strict=True) if c is not None]
    for position, (output, cotangent) in enumerate(pairs):
        which = "the output" if len(pairs) == 1 else f"output {position}"
        if output.shape != cotangent.shape:
            raise ValueError(f"{which} has another shape than expected")
        if not output.requires_grad:
            raise ValueError(
                f"{which} does not depend on the inputs for autograd: the graph was cut "
                "(by detach, .data, .numpy(), torch.no_grad, or a fresh tensor)"
            )
    # The sum, not grad_outputs: with those torch first imports a quarter second of sympy.
    total = sum((y * c.to(y.dtype)).sum() for y, c in pairs)
    return list(torch.autograd.grad([total], inputs, allow_unused=True))
