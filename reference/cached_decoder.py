"""A decoder of attention layers, in one pass: what any way of caching must reproduce.

Source: Vaswani et al., "Attention Is All You Need" (2017), section 3.1, for the residual layers;
Pope et al., "Efficiently Scaling Transformer Inference" (2022), section 2, for its two phases.
"""

from __future__ import annotations

import torch
from torch import Tensor

from reference.block import attention_block


def decode_in_chunks(
    x: Tensor,
    w_q: Tensor,
    w_k: Tensor,
    w_v: Tensor,
    w_o: Tensor,
    n_heads: int,
    n_kv_heads: int,
    prefill: int,
    chunk: int,
) -> Tensor:
    """x + attention(x), layer by layer, at positions 0 to T - 1.

    x (B, T, d), w_q (L, H*D, d), w_k and w_v (L, H_kv*D, d), w_o (L, d, H*D), one float dtype.
    Returns (B, T, d). The first `prefill` tokens, and then `chunk` at a time, are how a cached
    decoder meets them; the result does not depend on it, so that this one takes all at once.
    """
    del prefill, chunk
    positions = torch.arange(x.shape[1], device=x.device)  # (T,)
    for layer in zip(w_q, w_k, w_v, w_o, strict=True):
        x = x + attention_block(x, *layer, n_heads, n_kv_heads, positions)  # (B, T, d)
    return x
