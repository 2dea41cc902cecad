"""Causal grouped-query attention: several query heads share one key/value head.

Source: Ainslie et al., "GQA" (2023), section 2.2.
"""

from __future__ import annotations

from torch import Tensor

from reference.attention import attention
from reference.masks import causal_mask
from reference.multi_head import merge_heads, split_heads


def share_kv_heads(kv: Tensor, n_heads: int) -> Tensor:
    """(B, H_kv, S, D) to (B, H, S, D): query head h gets key/value head h // (H // H_kv)."""
    return kv.repeat_interleave(n_heads // kv.shape[1], dim=1)


def gqa(
    x: Tensor, w_q: Tensor, w_k: Tensor, w_v: Tensor, w_o: Tensor, n_heads: int, n_kv_heads: int
) -> Tensor:
    """Causal grouped-query attention, a projection being `x @ w.T`.

    x (B, T, d), w_q (H*D, d), w_k and w_v (H_kv*D, d), w_o (d, H*D), one float dtype; n_kv_heads
    divides n_heads, and H*D need not equal d. Returns (B, T, d).
    """
    q = split_heads(x @ w_q.T, n_heads)  # (B, H, T, D)
    k = share_kv_heads(split_heads(x @ w_k.T, n_kv_heads), n_heads)  # (B, H, T, D)
    v = share_kv_heads(split_heads(x @ w_v.T, n_kv_heads), n_heads)  # (B, H, T, D)
    length = x.shape[1]
    mixed = attention(q, k, v, causal_mask(length, length, x.device))  # (B, H, T, D)
    return merge_heads(mixed) @ w_o.T  # (B, T, d)
