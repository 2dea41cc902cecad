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
BLOCKS = (8, 16, 32, 96, 128, 256, 512, 1024)
"""Other sizes that kernels choose."""

EPSILONS = (1e-2, 1e-4, 1e-5)
"""Others that are not small enough."""

ONLINE = frozenset({"start", "rescale", "block_sum", "maximum", "tail"})
"""Switches of `online_softmax.online_softmax`."""

_BASE = {"e": 1.0, "two": math.log(2), "e-of-two": 1 / math.log(2)}


def fused_softmax(
    x: Tensor,
    *,
    block: int = BLOCK,
    base: str = "e",
    span: str = "row",
    written: str = "all",
    **switches: Any,
) -> Tensor:
    """Softmax of each row of x (rows, cols).

    block  columns of a block; no mistake by itself
    written  every column; or whole-blocks: those of the last, partial block stay zero
    base   e; two, without the factor log2(e); or e-of-two, e with that factor
    span   what is normalised: row; each-block; or first-block, where the rest stays zero
    The rest are switches of `softmax.softmax` (dim aside) and of `online_softmax.online_softmax`,
    as `ONLINE` has them, whose `tail` may also be row-padded: with zeros to the next power of two.
    Another `shift` or `axis`, and a `span`, leave nothing to be rescaled: these then say nothing.
    """
    x = x * _BASE[base]
    running = {name: switches.pop(name) for name in ONLINE & switches.keys()}
    if span == "first-block":
        first = softmax(x[:, :block], **switches)  # (rows, <= block)
        return torch.cat([first, torch.zeros_like(x[:, block:])], dim=1)
    if span == "each-block":
        parts = torch.split(x, block, dim=1)
        return torch.cat([softmax(part, **switches) for part in parts], dim=1)
    if not running or {"shift", "axis"} & switches.keys():
        return softmax(x, **switches)
    if running.get("tail") == "row-padded":
        block, running["tail"] = 1 << (x.shape[1] - 1).bit_length(), "zero-padded"
    m, total = online_softmax(x, block, **running)  # (rows,)
    shifted = x - m[:, None]  # (rows, cols)
    total = total[:, None] + float(switches.get("epsilon", 0.0))  # (rows, 1)
    if switches.get("returned") == "log":
        return shifted - total.log()
    out = exp32(shifted) if "returned" in switches else exp32(shifted) / total  # (rows, cols)
    if written == "whole-blocks":
        out[:, x.shape[1] // block * block :] = 0.0
    return out


def _otherwise(switches: Mapping[str, object]) -> Iterator[dict[str, object]]:
    """The mistake with another epsilon, or in blocks of other sizes, where that makes other
    numbers."""
    if switches.get("tail") == "row-padded":
        yield from ({**switches, "tail": "zero-padded", "block": b} for b in (BLOCK, *BLOCKS))
    elif "span" in switches or (ONLINE & switches.keys() and "start" not in switches):
        yield from ({**switches, "block": b} for b in BLOCKS)
    if "epsilon" in switches:
        yield from ({**switches, "epsilon": e} for e in EPSILONS)
    if switches.get("tail") == "dropped":
        for b in (BLOCK, *BLOCKS):
            yield {**switches, "block": b, "written": "whole-blocks"}


READINGS = {"fused_softmax": _otherwise}
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
        "online-last-block-zero-padded": {"tail": "row-padded"},
    }
}
