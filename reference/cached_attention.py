"""Attention of new tokens over a key/value cache and themselves: prefill, chunks and decoding.

Source: Shazeer, "Fast Transformer Decoding" (2019), section 2.4, for keys and values kept; Su et
al., "RoFormer" (2021), section 3.2, for positions that go on where the cache ends.
"""

from __future__ import annotations

import torch
from torch import Tensor

from reference.attention import attention
from reference.gqa import share_kv_heads
from reference.masks import causal_mask
from reference.multi_head import merge_heads, split_heads
from reference.rope import apply_rope


def cached_attention(
    x: Tensor,
    w_q: Tensor,
    w_k: Tensor,
    w_v: Tensor,
    w_o: Tensor,
    n_heads: int,
    n_kv_heads: int,
    k_cache: Tensor,
    v_cache: Tensor,
    base: float = 10000.0,
) -> tuple[Tensor, Tensor, Tensor]:
    """The attention block on T new tokens at positions S to S + T - 1, after S cached ones.

    x (B, T, d), w_q (H*D, d), w_k and w_v (H_kv*D, d), w_o (d, H*D), caches (B, H_kv, S, D), the
    keys in it already rotated, S >= 0; one float dtype. Returns (out, k_cache, v_cache): out
    (B, T, d), caches (B, H_kv, S+T, D).
    """
    past, new = k_cache.shape[2], x.shape[1]
    positions = torch.arange(past, past + new, device=x.device)  # (T,)
    q = apply_rope(split_heads(x @ w_q.T, n_heads), positions, base)  # (B, H, T, D)
    k_new = apply_rope(split_heads(x @ w_k.T, n_kv_heads), positions, base)  # (B, H_kv, T, D)
    v_new = split_heads(x @ w_v.T, n_kv_heads)  # (B, H_kv, T, D)
    k = torch.cat([k_cache, k_new], dim=2)  # (B, H_kv, S+T, D)
    v = torch.cat([v_cache, v_new], dim=2)  # (B, H_kv, S+T, D)
    shared_k, shared_v = share_kv_heads(k, n_heads), share_kv_heads(v, n_heads)
    allow = causal_mask(new, past + new, x.device)  # (T, S+T)
    mixed = attention(q, shared_k, shared_v, allow)  # (B, H, T, D)
    return merge_heads(mixed) @ w_o.T, k, v
