"""The attention block of a decoder, in nine steps: grouped queries, RoPE, causal.

Source: Touvron et al., "Llama 2" (2023), section 2.2, and the papers that `rope` and `gqa` name.
"""

from __future__ import annotations

from torch import Tensor

from reference.attention import attention
from reference.gqa import share_kv_heads
from reference.masks import causal_mask
from reference.multi_head import merge_heads, split_heads
from reference.rope import apply_rope


def attention_block(
    x: Tensor,
    w_q: Tensor,
    w_k: Tensor,
    w_v: Tensor,
    w_o: Tensor,
    n_heads: int,
    n_kv_heads: int,
    positions: Tensor,
    base: float = 10000.0,
) -> Tensor:
    """Project, split, rotate q and k, share KV heads, scale, mask, softmax, mix, merge and project.

    x (B, T, d), w_q (H*D, d), w_k and w_v (H_kv*D, d), w_o (d, H*D), one float dtype; positions
    (T,) int64 turn the rotation alone, the mask goes by index. Returns (B, T, d).
    """
    q = apply_rope(split_heads(x @ w_q.T, n_heads), positions, base)  # (B, H, T, D)
    k = apply_rope(split_heads(x @ w_k.T, n_kv_heads), positions, base)  # (B, H_kv, T, D)
    v = split_heads(x @ w_v.T, n_kv_heads)  # (B, H_kv, T, D)
    k, v = share_kv_heads(k, n_heads), share_kv_heads(v, n_heads)  # (B, H, T, D)
    length = x.shape[1]
    mixed = attention(q, k, v, causal_mask(length, length, x.device))  # (B, H, T, D)
    return merge_heads(mixed) @ w_o.T  # (B, T, d)
