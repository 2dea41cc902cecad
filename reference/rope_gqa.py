"""Grouped-query attention with RoPE over heads that were projected before, tokens ahead of heads.

Source: Su et al., "RoFormer" (2021), section 3.2.2; Ainslie et al., "GQA" (2023), section 2.2; the
layout (B, T, H, D) is that of Dao et al., "FlashAttention" (2022).
"""

from __future__ import annotations

from torch import Tensor

from reference.attention import attention
from reference.gqa import share_kv_heads
from reference.masks import causal_mask
from reference.rope import apply_rope


def rope_gqa(q: Tensor, k: Tensor, v: Tensor, positions: Tensor, base: float = 10000.0) -> Tensor:
    """Causal attention of rotated queries over rotated keys, half-split pairs.

    q (B, T, H, D), k and v (B, T, H_kv, D), one float dtype; H_kv divides H; positions (T,) int64
    turn the rotation alone, the mask goes by index. Returns (B, T, H, D).
    """
    q, k, v = (x.transpose(1, 2) for x in (q, k, v))  # (B, H or H_kv, T, D)
    q, k = apply_rope(q, positions, base), apply_rope(k, positions, base)
    k, v = share_kv_heads(k, q.shape[1]), share_kv_heads(v, q.shape[1])  # (B, H, T, D)
    length = q.shape[2]
    mixed = attention(q, k, v, causal_mask(length, length, q.device))  # (B, H, T, D)
    return mixed.transpose(1, 2)  # (B, T, H, D)
