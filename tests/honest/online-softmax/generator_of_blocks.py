from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor


def blocks(x: Tensor, size: int) -> Iterator[Tensor]:
    start = 0
    while start < x.shape[0]:
        yield x[start : start + size]
        start += size


def online_softmax(x: Tensor, block_size: int) -> tuple[Tensor, Tensor]:
    """The last dimension first; the first block sets the pair."""
    feed = blocks(x.movedim(-1, 0), block_size)
    first = next(feed).to(torch.float32)
    m = first.max(0).values
    l = (first - m).exp().sum(0)
    for block in feed:
        block = block.to(torch.float32)
        peak = block.max(0).values
        rises = peak > m
        l = torch.where(rises, l * torch.exp(torch.where(rises, m - peak, 0.0)), l)
        m = torch.where(rises, peak, m)
        l = l + (block - m).exp().sum(0)
    return m.to(x.dtype), l.to(x.dtype)
