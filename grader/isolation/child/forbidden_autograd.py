"""Rules autograd out: its engine, however it is started, and the nodes of a graph.

To build a graph is no fault, torch does it for every parameter, and to look at one is none either:
a node may be read, printed and walked along, and take a hook, which never fires. What computes a
gradient is refused: to start the engine, or to call a node by hand.
"""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Callable
from typing import Any

import torch

IMMUTABLE = 1 << 8  # Py_TPFLAGS_IMMUTABLETYPE
KNOWN = (int, str, list, dict, tuple, type)  # classes with flags that differ


def close(refusing: Callable[..., Any]) -> None:
    """Have `refusing` called instead of the engine and of each node."""
    _close_engine(refusing)
    for kind in _node_types():
        put(kind, "__call__", refusing)


def _close_engine(refusing: Callable[..., Any]) -> None:
    """By its entries from Python; and from within, for what C++ starts, as TorchScript does.

    The engine hands its work to the compiler of "compiled autograd" where one is set, before it
    does any of it.
    """
    internals: Any = torch._C
    put(internals._ImperativeEngine, "run_backward", refusing)
    if hasattr(internals, "_distributed_autograd"):
        internals._distributed_autograd.backward = refusing
    # TorchScript writes a gradient as a graph of its own. Closed in the classes that hand it out:
    # of what torch._C itself holds Python keeps a copy, for another import.
    internals.Gradient.df = property(refusing)
    internals.Node.g = refusing
    for name in ("grad_executor_states", "differentiable_op_executor_states"):
        if hasattr(internals.Code, name):  # not in every torch
            setattr(internals.Code, name, refusing)
    compiled: Any = internals._dynamo.compiled_autograd
    try:
        before = compiled.set_autograd_compiler(refusing, False)
    except TypeError:  # an older torch
        before = compiled.set_autograd_compiler(refusing)
    # torch.func and torch.compile switch it off for a while: they shall think that they did.
    compiled.set_autograd_compiler = lambda *arguments: before


def _node_types() -> list[type]:
    """Those with a name of their own, and the one of all others, which torch makes on demand."""
    operation = "drill::opaque"
    library: Any = torch._C._dispatch_library("DEF", "drill", "", __file__, 1)
    library.define("opaque(Tensor x) -> Tensor")
    library.impl("opaque", "CPU", torch.empty_like, False)
    run, _ = torch._C._jit_get_operation(operation)
    node = run(torch.empty(1, requires_grad=True)).grad_fn
    named = [kind for kind in vars(torch._C._functions).values() if isinstance(kind, type)]
    return [kind for kind in (*named, type(node)) if "__call__" in vars(kind)]


def put(kind: type, name: str, value: object) -> None:
    """Set an attribute of a class that is written in C and takes none, in its slots too."""
    flags = ctypes.c_ulong.from_address(id(kind) + _place_of_flags())
    flags.value &= ~IMMUTABLE
    try:
        setattr(kind, name, value)
    finally:
        flags.value |= IMMUTABLE


@functools.cache
def _place_of_flags() -> int:
    """Where classes keep their flags in memory: where several hold what Python says of them."""
    size: int = vars(type)["__basicsize__"].__get__(type)
    for place in range(0, size, ctypes.sizeof(ctypes.c_ulong)):
        read = {kind: ctypes.c_ulong.from_address(id(kind) + place).value for kind in KNOWN}
        if all(flags == kind.__flags__ for kind, flags in read.items()):
            return place
    raise RuntimeError("this Python keeps the flags of a class elsewhere")
