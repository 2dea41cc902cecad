"""Causal multi-head self-attention.

Source: Vaswani et al., "Attention Is All You Need" (2017), section 3.2.2; weights as nn.Linear
stores them.
"""

from __future__ import annotations

from torch import Tensor

from reference.attention import attention
from reference.masks import causal_mask


def split_heads(x: Tensor, n_heads: int) -> Tensor:
    """(B, T, H*D) to (B, H, T, D): head h owns the features h*D to (h+1)*D."""
    batch, length, width = x.shape
    return x.view(batch, length, n_heads, width // n_heads).transpose(1, 2)


def merge_heads(x: Tensor) -> Tensor:
    """(B, H, T, D) to (B, T, H*D), the inverse of `split_heads`."""
    return x.transpose(1, 2).flatten(start_dim=2)


def causal_mha(
    x: Tensor, w_q: Tensor, w_k: Tensor, w_v: Tensor, w_o: Tensor, n_heads: int
) -> Tensor:
    """Causal multi-head attention, a projection being `x @ w.T`.

    x (B, T, d), each w (d, d), one float dtype; n_heads divides d. Returns (B, T, d).
    """
    q = split_heads(x @ w_q.T, n_heads)  # (B, H, T, D)
    k = split_heads(x @ w_k.T, n_heads)  # (B, H, T, D)
    v = split_heads(x @ w_v.T, n_heads)  # (B, H, T, D)
    length = x.shape[1]
    mixed = attention(q, k, v, causal_mask(length, length, x.device))  # (B, H, T, D)
    return merge_heads(mixed) @ w_o.T  # (B, T, d)
