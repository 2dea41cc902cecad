"""Causal grouped-query attention of new tokens over a key/value cache and themselves, no positions.

Source: Shazeer, "Fast Transformer Decoding" (2019), section 2.4, for keys and values kept; Ainslie
et al., "GQA" (2023), section 2.2, for heads that share them.
"""

from __future__ import annotations

import torch
from torch import Tensor

from reference.attention import attention
from reference.gqa import share_kv_heads
from reference.masks import causal_mask
from reference.multi_head import merge_heads, split_heads


def cached_gqa(
    x: Tensor,
    w_q: Tensor,
    w_k: Tensor,
    w_v: Tensor,
    w_o: Tensor,
    n_heads: int,
    n_kv_heads: int,
    k_cache: Tensor,
    v_cache: Tensor,
) -> tuple[Tensor, Tensor, Tensor]:
    """`gqa` of T new tokens that come after S cached ones.

    x (B, T, d), w_q (H*D, d), w_k and w_v (H_kv*D, d), w_o (d, H*D), caches (B, H_kv, S, D),
    S >= 0; one float dtype. Returns (out, k_cache, v_cache): out (B, T, d), caches
    (B, H_kv, S+T, D). A sequence fed in pieces gives what `gqa` gives on the whole.
    """
    past, new = k_cache.shape[2], x.shape[1]
    q = split_heads(x @ w_q.T, n_heads)  # (B, H, T, D)
    k = torch.cat([k_cache, split_heads(x @ w_k.T, n_kv_heads)], dim=2)  # (B, H_kv, S+T, D)
    v = torch.cat([v_cache, split_heads(x @ w_v.T, n_kv_heads)], dim=2)  # (B, H_kv, S+T, D)
    allow = causal_mask(new, past + new, x.device)  # (T, S+T)
    mixed = attention(q, share_kv_heads(k, n_heads), share_kv_heads(v, n_heads), allow)
    return merge_heads(mixed) @ w_o.T, k, v
