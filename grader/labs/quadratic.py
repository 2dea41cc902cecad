"""Time and memory of attention against the length S: scores alone, whole, and in tiles."""

from __future__ import annotations

from statistics import median
from typing import Any

import torch
from torch import Tensor

from grader import fit
from grader.isolation.child import counting
from grader.labs.results.quadratic import CONTROL, SERIES
from grader.labs.setting import Setting, draw
from grader.labs.subject import Timed, memory_limit
from grader.labs.timing import Task, freed_memory_kept, interleaved, timed
from reference.attention import attention
from reference.flash_attention import flash_attention

B, D, BLOCK = 1, 64, 128
CHECKED = 50  # the length at which a learner's file is checked, not D: a transpose is to show
TINY = (1, 2, 4)
"""Lengths whose time is what every call costs."""


def measure(setting: Setting) -> dict[str, Any]:
    """Time S from 128 to 4096: what `results.quadratic` reads, in seconds and bytes."""
    heads = 2 if setting.quick else 4
    sizes = [64, 128, 256] if setting.quick else [128, 256, 512, 1024, 2048, 4096]
    work = {size: float(size**2 + 128**2) for size in [*TINY, *sizes]}
    done, whole = 0.0, sum(work.values())
    seconds: dict[str, list[float]] = {name: [] for name in (*SERIES, CONTROL)}
    errors: dict[str, list[float]] = {name: [] for name in SERIES}
    overheads: dict[str, list[float]] = {name: [] for name in SERIES}
    held: dict[str, list[int]] = {"whole": [], "tiled": []}
    repetitions: list[int] = []
    all_counted = True

    generator = setting.generator()
    if setting.subject is not None:
        q, k, v = (draw(generator, B, heads, CHECKED, D) for _ in range(3))
        setting.subject.check((q, k, v), [attention(q, k, v)])
    for size in [*TINY, *sizes]:
        setting.progress(done / whole, f"S = {size:,}")
        q, k, v = (draw(generator, B, heads, size, D) for _ in range(3))
        before = done
        tasks = _tasks(setting, q, k, v)
        if size not in TINY:
            bytes_, whole_of_it = _held(setting, q, k, v)
            held["whole"].append(bytes_)
            all_counted = all_counted and whole_of_it

        def step(share: float = work[size] / setting.rounds, size: int = size) -> None:
            nonlocal done
            done += share
            setting.progress(done / whole, f"S = {size:,}")

        with freed_memory_kept():
            found = interleaved(tasks, setting.rounds, setting.unit, step)
        if isinstance(tasks["whole"], Timed):
            tasks["whole"].check(attention)
        done = before + work[size]
        repetitions.append(len(found[CONTROL]))
        if size in TINY:
            for name in SERIES:
                overheads[name].append(median(found[name]))
            continue
        for name in SERIES:
            middle, error = fit.median_and_error(found[name])
            seconds[name].append(middle)
            errors[name].append(error)
        seconds[CONTROL].append(median(found[CONTROL]))
        held["tiled"].append(counting.counted(flash_attention, [q, k, v, BLOCK], {}, "")[1].held)
    if setting.subject is not None:
        setting.subject.took(seconds["whole"][-1], f"S = {sizes[-1]:,}")
    return {
        "batch": B,
        "heads": heads,
        "head_dim": D,
        "tile": BLOCK,
        "dtype": "float32",
        "sizes": sizes,
        "repetitions": [min(repetitions), max(repetitions)],
        "unit_seconds": setting.unit,
        "seconds": seconds,
        "standard_errors": errors,
        "overhead_seconds": {name: median(times) for name, times in overheads.items()},
        "held_bytes": held,
        "held_is_all": all_counted,
        "memory_limit_bytes": memory_limit(),
    }


def _held(setting: Setting, q: Tensor, k: Tensor, v: Tensor) -> tuple[int, bool]:
    """Bytes that whole attention has alive at once, and whether all could be counted."""
    if setting.subject is None:
        return counting.counted(attention, [q, k, v], {}, "")[1].held, True
    return setting.subject.held((q, k, v), [attention(q, k, v)])


def _tasks(setting: Setting, q: Tensor, k: Tensor, v: Tensor) -> dict[str, Task]:
    keys = k.transpose(-2, -1)
    # Into memory that is there: the cost of getting it from the system is no part of the product.
    room = torch.empty(*q.shape[:-1], k.shape[-2])  # (B, H, S, S)

    def scores() -> Tensor:
        return torch.matmul(q, keys, out=room)

    subject = setting.subject
    return {
        "scores": timed(scores),
        "whole": timed(lambda: attention(q, k, v)) if subject is None
        else subject.task((q, k, v), v),
        "tiled": timed(lambda: flash_attention(q, k, v, BLOCK)),
        CONTROL: timed(scores),
    }  # fmt: skip
