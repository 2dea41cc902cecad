"""The gradients of causal attention, by hand.

Source: Dao et al., "FlashAttention" (2022), appendix B.2, here without tiles.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor


def attention_backward(
    q: Tensor, k: Tensor, v: Tensor, d_out: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    """The gradients of sum(out * d_out) for out = softmax(q k^T / sqrt(D), causal) v.

    q, k, v and d_out (B, H, T, D), one float dtype. Returns (d_q, d_k, d_v), each (B, H, T, D).
    """
    length, width = q.shape[-2:]
    scale = 1 / math.sqrt(width)
    future = torch.ones(length, length, dtype=torch.bool, device=q.device).triu(1)  # (T, T)
    scores = (q @ k.transpose(-2, -1) * scale).masked_fill(future, -torch.inf)  # (B, H, T, T)
    weights = torch.softmax(scores, dim=-1)  # (B, H, T, T)
    out = weights @ v  # (B, H, T, D)

    d_v = weights.transpose(-2, -1) @ d_out  # (B, H, T, D)
    d_weights = d_out @ v.transpose(-2, -1)  # (B, H, T, T)
    # Each weight depends on all scores of its row, through the normaliser. That part of the
    # softmax's Jacobian is the same for the whole row: sum(weights * d_weights) = out . d_out.
    row_term = (out * d_out).sum(dim=-1, keepdim=True)  # (B, H, T, 1)
    d_scores = weights * (d_weights - row_term)  # (B, H, T, T)
    d_q = d_scores @ k * scale  # (B, H, T, D)
    d_k = d_scores.transpose(-2, -1) @ q * scale  # (B, H, T, D)
    return d_q, d_k, d_v
