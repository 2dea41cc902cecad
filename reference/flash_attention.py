"""Exact attention in tiles: no tensor of T x S is ever made.

Source: Dao et al., "FlashAttention" (2022), section 3.1 and algorithm 1, with one loop over the
key blocks and all queries at once.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor


def flash_attention(
    q: Tensor, k: Tensor, v: Tensor, block_size: int, causal: bool = False
) -> Tensor:
    """softmax(q k^T / sqrt(D)) v, in one pass over blocks of `block_size` keys.

    q (B, H, T, D), k and v (B, H, S, D), one float dtype; block_size >= 1, the last block may be
    shorter. With `causal`, T <= S, and query i sits at position S - T + i. Returns (B, H, T, D).
    """
    queries, keys = q.shape[-2], k.shape[-2]
    q = q / math.sqrt(q.shape[-1])  # (B, H, T, D)
    positions = torch.arange(keys - queries, keys, device=q.device)  # (T,), used if causal
    m = torch.full_like(q[..., :1], -torch.inf)  # (B, H, T, 1), the running maximum
    total = torch.zeros_like(m)  # (B, H, T, 1), the running sum of the weights
    out = torch.zeros_like(q)  # (B, H, T, D), the running sum of weighted values
    for start in range(0, keys, block_size):
        stop = min(start + block_size, keys)
        scores = q @ k[..., start:stop, :].transpose(-2, -1)  # (B, H, T, <= block)
        if causal:
            place = torch.arange(start, stop, device=q.device)  # (<= block,)
            scores = scores.masked_fill(place > positions[:, None], -torch.inf)
        # Every row sees key 0, in the first block: from there on m is finite.
        m_new = torch.maximum(m, scores.amax(dim=-1, keepdim=True))  # (B, H, T, 1)
        weights = torch.exp(scores - m_new)  # (B, H, T, <= block)
        # What was summed so far was measured against the old maximum.
        factor = torch.exp(m - m_new)  # (B, H, T, 1)
        total = total * factor + weights.sum(dim=-1, keepdim=True)
        out = out * factor + weights @ v[..., start:stop, :]
        m = m_new
    return out / total
