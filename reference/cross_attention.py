"""Multi-head cross-attention: a sequence attends to another one, which may be padded.

Source: Vaswani et al., "Attention Is All You Need" (2017), section 3.2.3, the encoder-decoder
attention; weights as nn.Linear stores them.
"""

from __future__ import annotations

import torch
from torch import Tensor

from reference.attention import attention
from reference.multi_head import merge_heads, split_heads


def cross_attention(
    x: Tensor,
    context: Tensor,
    w_q: Tensor,
    w_k: Tensor,
    w_v: Tensor,
    w_o: Tensor,
    n_heads: int,
    context_lengths: Tensor | None = None,
) -> Tensor:
    """Queries of `x` attend to keys and values of `context`; a projection is `x @ w.T`.

    x (B, T, d), context (B, S, d), each w (d, d), one float dtype; n_heads divides d;
    context_lengths (B,) int64, 1 <= length <= S: context at or past the length is hidden; None
    hides nothing. Returns (B, T, d).
    """
    q = split_heads(x @ w_q.T, n_heads)  # (B, H, T, D)
    k = split_heads(context @ w_k.T, n_heads)  # (B, H, S, D)
    v = split_heads(context @ w_v.T, n_heads)  # (B, H, S, D)
    allow = None
    if context_lengths is not None:
        place = torch.arange(context.shape[1], device=context.device)  # (S,)
        allow = (place < context_lengths[:, None])[:, None, None, :]  # (B, 1, 1, S)
    return merge_heads(attention(q, k, v, allow)) @ w_o.T  # (B, T, d)
