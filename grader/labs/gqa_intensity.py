"""A decode step with 1, 8 and 32 KV heads: FLOP and bytes counted from real tensors; its time."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import cycle
from statistics import median
from typing import Any

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode

from grader import fit
from grader.isolation.child.counting_operations import PRODUCT, Operation, work_of
from grader.labs.results.gqa_intensity import CONTROL
from grader.labs.roofline import measured
from grader.labs.setting import Setting, draw
from grader.labs.timing import Task, freed_memory_kept, interleaved, timed

H = 32
KV_HEADS = (1, 8, 32)
DTYPES = {"float32": torch.float32, "bfloat16": torch.bfloat16}
COLD = 256 << 20
"""Bytes of caches that are gone through before one is read again: more than processors keep."""


class Traffic(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Counts the FLOP of products, and the bytes of `watched` tensors that products read: each
    byte once, however often it is used, since a kernel need not fetch it twice."""

    def __init__(self, watched: Sequence[Tensor]) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.flops = 0
        self._watched = {tensor.untyped_storage().data_ptr() for tensor in watched}
        self._read: dict[int, int] = {}

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        return False  # as in `counting.Counter`: two seconds of imports less

    @property
    def bytes(self) -> int:
        """Bytes of the watched tensors that were read."""
        return sum(self._read.values())

    def __torch_dispatch__(
        self, func: Any, types: Any, args: Any = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        result = func(*args, **(kwargs or {}))
        operation = Operation.of(func)
        if operation.kind == PRODUCT:
            given = [one for one in args if isinstance(one, Tensor)]
            self.flops += work_of(operation, args, given, [result])
            for tensor in given:
                memory = tensor.untyped_storage()
                if memory.data_ptr() in self._watched:
                    self._read[memory.data_ptr()] = memory.nbytes()
        return result


def decode_step(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    """One token over a cache, the query heads of a group together, no key or value repeated.

    q (B, h, 1, D), k and v (B, h_kv, S, D), h_kv dividing h. Returns (B, h, 1, D).
    """
    b, h, _, d = q.shape
    grouped = q.reshape(b, k.shape[1], h // k.shape[1], d) / d**0.5  # (B, h_kv, h / h_kv, D)
    weights = torch.softmax(grouped @ k.transpose(-2, -1), dim=-1)  # (B, h_kv, h / h_kv, S)
    return (weights @ v).reshape(b, h, 1, d)


def counted(n_kv_heads: int, cache: int, head_dim: int, dtype: torch.dtype) -> tuple[int, int]:
    """FLOP of the products of one decode step with H heads, and bytes of cache that they read."""
    q = torch.ones(1, H, 1, head_dim, dtype=dtype)
    k, v = (torch.ones(1, n_kv_heads, cache, head_dim, dtype=dtype) for _ in range(2))
    traffic = Traffic((k, v))
    with torch.inference_mode(False), torch.no_grad(), traffic:
        decode_step(q, k, v)
    return traffic.flops, traffic.bytes


def measure(setting: Setting) -> dict[str, Any]:
    """Count and time: what `results.gqa_intensity` reads, in FLOP, bytes and seconds."""
    cache, head_dim = (256, 32) if setting.quick else (8192, 128)
    rounds, unit = setting.rounds, setting.unit
    over = min(cache, 1024)
    counts = {
        name: {n: counted(n, over, head_dim, dtype) for n in KV_HEADS}
        for name, dtype in DTYPES.items()
    }
    done = 0
    what = "the machine's roofs"

    def step() -> None:
        nonlocal done
        done += 1
        setting.progress(done / (2 * rounds), what)

    setting.progress(0.0, what)
    roof = measured(setting.quick, rounds, unit, step)
    what = "decode steps"
    generator = setting.generator()
    q = draw(generator, 1, H, 1, head_dim)
    tasks = {str(n): _task(generator, q, n, cache, 0 if setting.quick else COLD) for n in KV_HEADS}
    tasks[CONTROL] = tasks[str(KV_HEADS[-1])]
    with torch.inference_mode(), freed_memory_kept():
        taken = interleaved(tasks, rounds, unit, step)
    times = {str(n): fit.median_and_error(taken[str(n)]) for n in KV_HEADS}
    return {
        "heads": H,
        "kv_heads": list(KV_HEADS),
        "head_dim": head_dim,
        "cache": cache,
        "counted_over": over,
        "element_bytes": {name: dtype.itemsize for name, dtype in DTYPES.items()},
        "counted": {
            name: {str(n): {"flops": flops, "bytes": read} for n, (flops, read) in found.items()}
            for name, found in counts.items()
        },
        "repetitions": [len(taken[CONTROL])] * 2,
        "unit_seconds": unit,
        "roof": roof.to_json(),
        "seconds": {**{n: middle for n, (middle, _) in times.items()},
                    CONTROL: median(taken[CONTROL])},
        "standard_errors": {n: error for n, (_, error) in times.items()},
    }  # fmt: skip


def _task(generator: torch.Generator, q: Tensor, n_kv_heads: int, cache: int, cold: int) -> Task:
    """A step over another cache each time, so that none is read from the processor's own."""
    shape = (1, n_kv_heads, cache, q.shape[-1])
    first = draw(generator, *shape), draw(generator, *shape)
    size = 2 * first[0].nbytes
    others = [(first[0].clone(), first[1].clone()) for _ in range(cold // size)]
    caches = cycle([first, *others])
    return timed(lambda: decode_step(q, *next(caches)))
