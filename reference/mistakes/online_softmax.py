"""The family of `online-softmax`."""

from __future__ import annotations

import torch
from torch import Tensor

from reference.mistakes.core import Mistakes
from reference.mistakes.exponent import exp32
from reference.mistakes.readings import SENTINEL, within


def _maximum(how: str, m: Tensor, block: Tensor) -> Tensor:
    own = block.amax(dim=-1)  # (...)
    return {
        "running": lambda: torch.maximum(m, own),
        "first": lambda: torch.where(m == -torch.inf, own, m),
        "last": lambda: own,
        "over-rows": lambda: torch.maximum(m, block.max()),
    }[how]()


def _factor(how: str, m: Tensor, m_new: Tensor) -> Tensor:
    """The logarithm of what the sum so far is multiplied by. At the first block that sum is 0."""
    exponent = {
        "right": lambda: m - m_new,
        "none": lambda: torch.zeros_like(m),
        "inverted": lambda: m_new - m,
        "old": lambda: m,
    }[how]()
    return exponent.masked_fill(m == -torch.inf, 0.0)


def online_softmax(
    x: Tensor,
    block_size: int,
    *,
    start: str = "-inf",
    rescale: str = "right",
    block_sum: str = "at-new-max",
    maximum: str = "running",
    tail: str = "kept",
    returned: str = "l",
) -> tuple[Tensor, Tensor]:
    """Running maximum and normaliser over the last dimension; as the reference.

    start      the first maximum: -inf, zero, sentinel (-1e4), or first (entry 0, already counted)
    rescale    exp(m - m_new), right; none; inverted; or old: exp(m)
    block_sum  at-new-max; own-max (the block's own, not corrected); or unshifted
    maximum    running; first (never updated); last (the block's); over-rows (one for all rows)
    tail       the last, partial block: kept, zero-padded, or dropped; dropped-but-one: not where it
               is the only one
    returned   l, log (its logarithm), lse (m + log l), or mean (divided by N)
    """
    m = x[..., 0]  # (...)
    if start != "first":
        first = {"-inf": -torch.inf, "zero": 0.0, **SENTINEL}[start]
        m = torch.full_like(m, within(first, m.dtype))
    total = torch.ones_like(m) if start == "first" else torch.zeros_like(m)  # (...)
    length = x.shape[-1]
    if tail == "dropped" or (tail == "dropped-but-one" and length > block_size):
        length -= length % block_size
    if tail == "zero-padded":
        x = torch.nn.functional.pad(x, (0, -length % block_size))
        length = x.shape[-1]
    for begin in range(0, length, block_size):
        block = x[..., begin : begin + block_size]  # (..., <= block)
        m_new = _maximum(maximum, m, block)  # (...)
        base = {
            "at-new-max": m_new,
            "own-max": block.amax(dim=-1),
            "unshifted": torch.zeros_like(m),
        }[block_sum]  # (...)
        raised = exp32(block - base[..., None]).sum(dim=-1)
        if block_sum == "unshifted":
            total = total + raised
        else:
            total = total * exp32(_factor(rescale, m, m_new)) + raised
        m = m_new
    if returned in ("log", "lse"):
        total = total.log() + (m if returned == "lse" else 0.0)
    if returned == "mean":
        total = total / x.shape[-1]
    return m, total


MISTAKES: Mistakes = {
    "online_softmax": {
        "online-max-starts-at-zero": {"start": "zero"},
        "online-sentinel": {"start": "sentinel"},
        "online-first-entry-twice": {"start": "first"},
        "online-not-rescaled": {"rescale": "none"},
        "online-rescale-inverted": {"rescale": "inverted"},
        "online-rescale-by-old-max": {"rescale": "old"},
        "online-block-not-corrected": {"block_sum": "own-max"},
        "online-sum-unshifted": {"block_sum": "unshifted"},
        "online-max-not-updated": {"maximum": "first"},
        "online-max-of-last-block": {"maximum": "last"},
        "online-max-over-rows": {"maximum": "over-rows"},
        "online-last-block-dropped": {"tail": "dropped"},
        "online-last-block-zero-padded": {"tail": "zero-padded"},
        "online-log-returned": {"returned": "log"},
        "online-lse-returned": {"returned": "lse"},
        "online-mean-returned": {"returned": "mean"},
    }
}
