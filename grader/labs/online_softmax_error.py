"""Rounding of the blockwise softmax: its normaliser in three dtypes against float64.

The algorithm is Milakov and Gimelshein 2018, algorithm 3.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from grader import fit
from grader.labs.results.online_softmax_error import WIDE
from grader.labs.setting import Setting, draw
from reference.online_softmax import online_softmax

ROWS = 32
DTYPES = {"float32": torch.float32, "bfloat16": torch.bfloat16, "float16": torch.float16}
BLOCK = 16
CHECKED = 50  # the length at which a learner's file is checked: no multiple of the block

Errors = dict[str, list[tuple[float, float]]]


def measure(setting: Setting) -> dict[str, Any]:
    """The relative error of l = sum exp(x - m) against the length N and the block size: what
    `results.online_softmax_error` reads."""
    lengths = [64, 256, 1024] if setting.quick else [64, 256, 1024, 4096, 16384, 65536]
    blocks = [16, 64, 256] if setting.quick else [4, 16, 64, 256, 1024, 4096]
    draws = 2 if setting.quick else 6
    fixed = lengths[-1] if setting.quick else 16384
    if setting.subject is not None:
        x = draw(setting.generator(), ROWS, CHECKED)
        setting.subject.check((x, BLOCK), list(online_softmax(x, BLOCK)))
    whole = sum(n / BLOCK for n in lengths) + sum(fixed / b for b in blocks)
    done = 0.0
    against_length: dict[str, Errors] = {"blockwise": _empty(WIDE), "full": _empty()}
    for length in lengths:
        setting.progress(done / whole, f"N = {length:,}")
        found = _errors(setting, length, BLOCK, draws)
        for way, errors in against_length.items():
            for name in errors:
                errors[name].append(fit.mean_and_error(found[way, name]))
        done += length / BLOCK
    against_block = _empty()
    for block in blocks:
        setting.progress(done / whole, f"blocks of {block:,}")
        found = _errors(setting, fixed, block, draws)
        for name in DTYPES:
            against_block[name].append(fit.mean_and_error(found["blockwise", name]))
        done += fixed / block
    return {
        "rows": ROWS,
        "draws": draws,
        "lengths": lengths,
        "block_size": BLOCK,
        "error_against_length": _means(against_length),
        "standard_errors_against_length": _standard_errors(against_length),
        "block_sizes": blocks,
        "length_of_block_sizes": fixed,
        "error_against_block": _means({"blockwise": against_block})["blockwise"],
        "standard_errors_against_block": _standard_errors({"blockwise": against_block})[
            "blockwise"
        ],
        "unit_roundoff": {name: torch.finfo(dtype).eps / 2 for name, dtype in DTYPES.items()},
    }


Numbers = dict[str, dict[str, list[float]]]


def _means(found: dict[str, Errors]) -> Numbers:
    return {way: {name: [mean for mean, _ in row] for name, row in errors.items()}
            for way, errors in found.items()}  # fmt: skip


def _standard_errors(found: dict[str, Errors]) -> Numbers:
    return {way: {name: [error for _, error in row] for name, row in errors.items()}
            for way, errors in found.items()}  # fmt: skip


def _empty(*more: str) -> Errors:
    return {name: [] for name in (*DTYPES, *more)}


def _errors(
    setting: Setting, length: int, block: int, draws: int
) -> dict[tuple[str, str], list[float]]:
    """For each draw the mean relative error over the rows, by way and dtype."""
    found: dict[tuple[str, str], list[float]] = {}
    for n in range(draws):
        drawn = draw(setting.generator(7919 * n + length), ROWS, length)
        for name, dtype in DTYPES.items():
            x = drawn.to(dtype)
            exact = online_softmax(x.double(), length)  # (ROWS,) each, of the very inputs seen
            ways = {
                ("blockwise", name): _blockwise(setting, x, block, exact),
                ("full", name): online_softmax(x, length)[1],
            }
            if dtype == torch.bfloat16:
                ways["blockwise", WIDE] = online_softmax(x.float(), block)[1].to(dtype)
            for way, total in ways.items():
                error = ((total.double() - exact[1]) / exact[1]).abs().mean()
                found.setdefault(way, []).append(float(error))
    return found


def _blockwise(setting: Setting, x: Tensor, block: int, exact: Sequence[Tensor]) -> Tensor:
    """The normaliser. A learner's is compared in float32, where right ones are near `exact`."""
    subject = setting.subject
    if subject is None:
        return online_softmax(x, block)[1]
    found = subject.values((x, block), [x[:, 0], x[:, 0]])
    if x.dtype == torch.float32:
        subject.compare(found, (x, block), exact)
    return found[1]
