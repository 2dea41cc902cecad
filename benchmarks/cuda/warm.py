"""Compiles the Triton kernels in several processes, into Triton's cache on disk.

One process takes minutes for what the checks need. The sizes of the tensors do not matter, only
what a compiled kernel depends on: dtype, head width, mask, page, block.
"""

from __future__ import annotations

import itertools
import os
from multiprocessing import get_context

import torch

from benchmarks.cuda.support import DTYPES, WIDTHS

Task = tuple[str, int, str, bool]


def tasks() -> list[Task]:
    """The slowest to compile first."""
    wide = sorted(WIDTHS, reverse=True)
    names = [str(dtype).removeprefix("torch.") for dtype in reversed(DTYPES)]
    found: list[Task] = [
        ("attention", width, name, causal)
        for name, width, causal in itertools.product(names, wide, (True, False))
    ]
    return [*found, ("decode", 128, "bfloat16", False), ("paged", 128, "bfloat16", False)]


def compile_one(task: Task) -> None:
    """One kernel compiled, by running it on tensors of a few tiles."""
    from reference.kernels.triton_attention import fused_attention
    from reference.kernels.triton_decode import fused_decode
    from reference.kernels.triton_paged import paged_decode

    kind, width, name, causal = task
    made = {"device": "cuda", "dtype": getattr(torch, name)}
    lengths = torch.ones(2, dtype=torch.int64, device="cuda")
    if kind == "attention":
        fused_attention(*(torch.zeros(2, 2, 256, width, **made) for _ in "qkv"), causal)
    elif kind == "decode":
        q, k, v = (torch.zeros(2, h, s, width, **made) for h, s in ((8, 1), (2, 512), (2, 512)))
        fused_decode(q, k, v, lengths)
    else:
        q, pages = torch.zeros(2, 8, 1, width, **made), torch.zeros(64, 16, 2, width, **made)
        table = torch.zeros(2, 32, dtype=torch.int64, device="cuda")
        paged_decode(q, pages, pages, table, lengths)
    torch.cuda.synchronize()


def compile_all(seconds: float) -> str:
    """What could not be done within `seconds`, or nothing. The checks compile the rest."""
    workers = max(1, min(8, (os.cpu_count() or 1) - 1))
    with get_context("spawn").Pool(workers) as pool:  # ended where the block ends, done or not
        try:
            pool.map_async(compile_one, tasks(), chunksize=1).get(seconds)
        except Exception as error:
            return f"{type(error).__name__}: {str(error)[:200]}"
    return ""
