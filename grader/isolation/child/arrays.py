"""Counts what a call does with NumPy: a kind of array that sees each operation on it.

While a call is counted, a tensor turns into such an array where it would turn into a plain one, and
so does what NumPy's own factories make. Names that were imported from NumPy are not seen, nor what
is made by way of `np.ndarray` itself.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import torch
import torch.utils.dlpack

COMPUTING = frozenset({"einsum", "tensordot", "dot", "inner", "outer", "where"})
"""Functions that are no universal ones, and make new numbers or keep some of the old."""

FACTORIES = (
    *("array", "asarray", "asanyarray", "ascontiguousarray", "asfortranarray", "fromiter"),
    *("empty", "zeros", "ones", "full", "empty_like", "zeros_like", "ones_like", "full_like"),
    *("eye", "identity", "tri", "tril_indices", "triu_indices", "indices", "fromfunction"),
    *("arange", "linspace", "from_dlpack"),
)
"""Functions of NumPy that make arrays of anything else."""

LEAVING: tuple[tuple[Any, tuple[str, ...]], ...] = (
    (torch.Tensor, ("__dlpack__",)),
    (torch, ("to_dlpack",)),
    (torch.utils.dlpack, ("to_dlpack",)),
    (torch._C, ("_to_dlpack", "_to_dlpack_versioned")),
)
"""Other ways out of torch, where it has them: what comes out lies in the tensor's memory."""

Note = Callable[[str, list[Any], list[Any]], None]
"""Called with an operation's name, the arrays that it read and those that it made or wrote. The
name is "" where it computes nothing: it fills, or copies."""


class WatchedArray(np.ndarray):
    """An array that reports universal functions, products included, and passes itself on."""

    note: Note | None = None

    def __array_ufunc__(
        self, ufunc: Any, method: str, *inputs: Any, out: Any = None, **kwargs: Any
    ) -> Any:
        given = [_plain(value) for value in inputs]
        if out is not None:
            kwargs["out"] = tuple(_plain(value) for value in out)
        result = getattr(ufunc, method)(*given, **kwargs)
        made = list(result) if isinstance(result, tuple) else [result]
        note = WatchedArray.note
        if note is not None:
            note(ufunc.__name__, given, made)
        if out is not None:
            return out[0] if len(out) == 1 else out
        watched = tuple(_watched(value) for value in made)
        return watched if isinstance(result, tuple) else watched[0]

    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        result = super().__array_function__(func, types, args, kwargs)
        name = func.__name__ if func.__name__ in COMPUTING else ""
        return _made(name, [v for v in args if isinstance(v, np.ndarray)], result)


def _plain(value: Any) -> Any:
    return value.view(np.ndarray) if isinstance(value, WatchedArray) else value


def _watched(value: Any) -> Any:
    return value.view(WatchedArray) if type(value) is np.ndarray else value


def _made(name: str, given: list[Any], result: Any) -> Any:
    """The result of a function, reported where it has memory of its own, and watched."""
    if type(result) in (tuple, list):
        return type(result)(_made(name, given, value) for value in result)
    note = WatchedArray.note
    if note is not None and isinstance(result, np.ndarray) and (name or result.flags.owndata):
        note(name, given, [result])
    return _watched(result)


def _factory(function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def make(*args: Any, **kwargs: Any) -> Any:
        return _made("", [], function(*args, **kwargs))

    return make


@contextlib.contextmanager
def watched(note: Note, handed: Callable[[int], None], left: Callable[[], None]) -> Iterator[None]:
    """Within, `note` hears of NumPy's operations on what were tensors, `left` of each tensor that
    became an array, and `handed` how many numbers became Python's own (`tolist`)."""
    tensors: Any = torch.Tensor
    to_numpy, to_array, to_list = tensors.numpy, tensors.__array__, tensors.tolist

    def numpy(self: torch.Tensor, *args: Any, **kwargs: Any) -> Any:
        left()
        return _watched(to_numpy(self, *args, **kwargs))

    def array(self: torch.Tensor, *args: Any, **kwargs: Any) -> Any:
        left()
        return _watched(to_array(self, *args, **kwargs))

    def tolist(self: torch.Tensor) -> Any:
        handed(self.numel())
        return to_list(self)

    def leaving(function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def leave(*args: Any, **kwargs: Any) -> Any:
            left()
            return function(*args, **kwargs)

        return leave

    factories = {name: _factory(getattr(np, name)) for name in FACTORIES}
    WatchedArray.note = note
    try:
        with (
            _replaced(torch.Tensor, {"numpy": numpy, "__array__": array, "tolist": tolist}),
            _replaced(np, factories),
            contextlib.ExitStack() as others,
        ):
            for owner, names in LEAVING:
                here = [name for name in names if hasattr(owner, name)]
                found = {name: leaving(getattr(owner, name)) for name in here}
                others.enter_context(_replaced(owner, found))
            yield
    finally:
        WatchedArray.note = None


@contextlib.contextmanager
def _replaced(owner: Any, functions: dict[str, Callable[..., Any]]) -> Iterator[None]:
    own = dict(vars(owner))
    for name, function in functions.items():
        setattr(owner, name, function)
    try:
        yield
    finally:
        for name in functions:
            if name in own:
                setattr(owner, name, own[name])
            else:
                delattr(owner, name)
