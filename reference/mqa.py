"""Causal multi-query attention: all query heads share one key/value head.

Source: Shazeer, "Fast Transformer Decoding: One Write-Head is All You Need" (2019), section 3.
"""

from __future__ import annotations

from torch import Tensor

from reference.attention import attention
from reference.masks import causal_mask


def mqa(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    """Attention of the last T of S positions, each to itself and what comes before.

    q (B, H, T, D), k and v (B, 1, S, D), one float dtype; T <= S. Returns (B, H, T, D). The axis of
    length 1 broadcasts over the query heads; nothing is copied.
    """
    allow = causal_mask(q.shape[-2], k.shape[-2], q.device)  # (T, S)
    return attention(q, k, v, allow)  # (B, H, T, D)
