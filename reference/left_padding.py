"""Causal attention over a batch of prompts that are padded on the left.

Source: Vaswani et al., "Attention Is All You Need" (2017), section 3.2.3; padding on the left, as
batches are padded for generation, so that the newest token of every prompt stands last.
"""

from __future__ import annotations

import torch
from torch import Tensor

from reference.attention import attention
from reference.masks import causal_mask


def left_padded_attention(q: Tensor, k: Tensor, v: Tensor, lengths: Tensor) -> Tensor:
    """Attention of each token over its sequence's tokens up to itself.

    q, k, v (B, H, T, D), one float dtype; lengths (B,) int64, 0 <= length <= T: the tokens are the
    last `length` of the T slots. Returns (B, H, T, D); the rows of the padding, which see no token,
    are zero.
    """
    length = k.shape[-2]
    is_token = torch.arange(length, device=k.device) >= length - lengths[:, None]  # (B, T)
    allow = causal_mask(length, length, k.device) & is_token[:, None, None, :]  # (B, 1, T, T)
    return attention(q, k, v, allow)  # (B, H, T, D)
