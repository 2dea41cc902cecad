"""Attention over a left-padded batch."""

from __future__ import annotations

import torch


def left_padded_attention(
    q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, lengths: torch.Tensor
) -> torch.Tensor:
    """Causal attention in which the keys ahead of each sequence's first token are hidden.

    q, k, v  (B, H, T, D)  float32, float64 or bfloat16
    lengths  (B,)          int64, 0 <= length <= T: the tokens are the last `length` slots
    out      (B, H, T, D)  in q's dtype; zeros where a query may attend to nothing
    """
    length, width = q.shape[-2:]
    slots = torch.arange(length, device=q.device)  # (T,)
    is_token = slots >= length - lengths[:, None]  # (B, T)
    past = slots <= slots[:, None]  # (T, T)

    # Both masks have to agree: a token, and not in the future.
    allowed = past & is_token[:, None, None, :]  # (B, 1, T, T)

    scores = torch.matmul(q, k.mT) / width**0.5  # (B, H, T, T)
    scores = torch.where(allowed, scores, -1e9)
    weights = torch.softmax(scores, dim=-1) * allowed.any(dim=-1, keepdim=True)  # (B, H, T, T)
    return torch.matmul(weights, v)  # (B, H, T, D)
