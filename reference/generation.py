"""Greedy decoding of a one-layer model with a key/value cache.

Source: Shazeer, "Fast Transformer Decoding" (2019), section 2.4; the tied output head is that of
Press and Wolf, "Using the Output Embedding to Improve Language Models" (2017).
"""

from __future__ import annotations

import torch
from torch import Tensor

from reference.cached_attention import cached_attention


def generate(
    prompt: Tensor,
    n_new: int,
    embed: Tensor,
    w_q: Tensor,
    w_k: Tensor,
    w_v: Tensor,
    w_o: Tensor,
    n_heads: int,
    n_kv_heads: int,
) -> Tensor:
    """The n_new tokens that follow the prompt, each the argmax of (x + attention(x)) @ embed.T.

    prompt (T,) int64, embed (V, d), w_q (H*D, d), w_k and w_v (H_kv*D, d), w_o (d, H*D), one float
    dtype; n_new >= 1. Returns (n_new,) int64. The prompt passes once; then every step takes one
    token, and the keys and values of those before it come from the cache.
    """
    head_width = w_q.shape[0] // n_heads
    k_cache = v_cache = embed.new_empty(1, n_kv_heads, 0, head_width)  # (1, H_kv, 0, D)
    fed, new = prompt, []
    for _ in range(n_new):
        x = embed[fed][None]  # (1, T, d), and (1, 1, d) from the second step on
        mixed, k_cache, v_cache = cached_attention(
            x, w_q, w_k, w_v, w_o, n_heads, n_kv_heads, k_cache, v_cache
        )
        logits = (x + mixed)[0, -1] @ embed.T  # (V,)
        fed = logits.argmax(dim=-1, keepdim=True)  # (1,)
        new.append(fed)
    return torch.cat(new)  # (n_new,)
