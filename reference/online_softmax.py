"""The maximum and the normaliser of a softmax, in one pass over blocks.

Source: Milakov and Gimelshein, "Online normalizer calculation for softmax" (2018), algorithm 3.
"""

from __future__ import annotations

import torch
from torch import Tensor


def online_softmax(x: Tensor, block_size: int) -> tuple[Tensor, Tensor]:
    """Running maximum m and normaliser l = sum(exp(x - m)) over the last dimension.

    x (..., N), any float dtype, finite, read in blocks of `block_size` >= 1 (the last one may be
    shorter). Returns (m, l), each (...), in x's dtype.
    """
    m = torch.full_like(x[..., 0], -torch.inf)  # (...)
    total = torch.zeros_like(m)  # (...), the normaliser l
    for start in range(0, x.shape[-1], block_size):
        block = x[..., start : start + block_size]  # (..., <= block_size)
        m_new = torch.maximum(m, block.amax(dim=-1))  # (...)
        # What was summed so far was measured against the old maximum.
        total = total * torch.exp(m - m_new) + torch.exp(block - m_new[..., None]).sum(dim=-1)
        m = m_new
    return m, total
