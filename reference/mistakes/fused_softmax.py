"""The family of `fused-softmax`: the families of `stable-softmax` and `online-softmax`, as a kernel
joins them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

import torch
from torch import Tensor

from reference.mistakes.core import Mistakes
from reference.mistakes.exponent import exp32
from reference.mistakes.online_softmax import online_softmax
from reference.mistakes.softmax import softmax

BLOCK = 64
BLOCKS = (16, 32, 128, 256, 512, 1024)
"""Other sizes that kernels choose."""

ONLINE = frozenset({"start", "rescale", "block_sum", "maximum", "tail"})
"""Switches of `online_softmax.online_softmax`."""

_BASE = {"e": 1.0, "two": math.log(2), "e-of-two": 1 / math.log(2)}


def fused_softmax(
    x: Tensor,
    *,
    block: int = BLOCK,
    base: str = "e",
    span: str = "row",
    **switches: Any,
) -> Tensor:
    """Softmax of each row of x (rows, cols).

    block  columns of a block; 0 is the next power of two of the row. No mistake by itself
    base   e; two, without the factor log2(e); or e-of-two, e with that factor
    span   what is normalised: row; each-block; or first-block, where the rest stays zero
    The rest are switches of `softmax.softmax` (dim aside), or those of `online_softmax` in
    `ONLINE`; the two do not go together.
    """
    block = block or 1 << (x.shape[1] - 1).bit_length()
    x = x * _BASE[base]
    if span == "first-block":
        first, rest = x[:, :block], x[:, block:]
        return torch.cat([softmax(first, **switches), torch.zeros_like(rest)], dim=1)
    if span == "each-block":
        return torch.cat([softmax(part, **switches) for part in x.split(block, dim=1)], dim=1)
    if not ONLINE & switches.keys():
        return softmax(x, **switches)
    m, total = online_softmax(x, block, **switches)  # (rows,)
    return exp32(x - m[:, None]) / total[:, None]


def _by_block(switches: Mapping[str, object]) -> Iterator[dict[str, object]]:
    """The mistake in blocks of other sizes, where that makes other numbers."""
    if switches.get("start", "-inf") == "-inf" and (
        ONLINE & switches.keys() or switches.get("span", "row") != "row"
    ):
        for block in BLOCKS:
            yield {**switches, "block": block}


READINGS = {"fused_softmax": _by_block}
"""As in `reference.mistakes.masks`."""

MISTAKES: Mistakes = {
    "fused_softmax": {
        "softmax-overflow": {"shift": "none"},
        "softmax-overflow-zero": {"shift": "none-zero"},
        "softmax-global-max": {"shift": "whole"},
        "softmax-global-max-zero": {"shift": "whole-zero"},
        "softmax-absolute-max": {"shift": "absolute"},
        "softmax-mean-subtracted": {"shift": "mean"},
        "softmax-first-dim": {"axis": "first"},
        "softmax-over-whole-tensor": {"axis": "all"},
        "softmax-large-epsilon": {"epsilon": 1e-3},
        "softmax-log-returned": {"returned": "log"},
        "softmax-not-normalised": {"returned": "exp"},
        "softmax-exp2-without-log2e": {"base": "two"},
        "softmax-exp-of-base-two": {"base": "e-of-two"},
        "softmax-of-each-block": {"span": "each-block"},
        "softmax-first-block-only": {"span": "first-block"},
        "online-max-starts-at-zero": {"start": "zero"},
        "online-sentinel": {"start": "sentinel"},
        "online-not-rescaled": {"rescale": "none"},
        "online-rescale-inverted": {"rescale": "inverted"},
        "online-block-not-corrected": {"block_sum": "own-max"},
        "online-max-not-updated": {"maximum": "first"},
        "online-max-of-last-block": {"maximum": "last"},
        "online-last-block-dropped": {"tail": "dropped"},
        "online-last-block-zero-padded": {"tail": "zero-padded", "block": 0},
    }
}
