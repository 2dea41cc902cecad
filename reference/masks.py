"""Who may attend to whom: the causal mask and the padding mask.

Source: Vaswani et al., "Attention Is All You Need" (2017), section 3.2.3; True means "may attend",
as in torch.nn.functional.scaled_dot_product_attention.
"""

from __future__ import annotations

import torch
from torch import Tensor

from reference.attention import attention


def causal_mask(t: int, s: int, device: torch.device | None = None) -> Tensor:
    """The causal mask of the last `t` positions of `s`, 1 <= t <= s.

    Returns bool (t, s): query i sits at absolute position s - t + i and sees the keys up to it.
    """
    queries = torch.arange(s - t, s, device=device)  # (t,)
    keys = torch.arange(s, device=device)  # (s,)
    return keys <= queries[:, None]  # (t, s)


def padded_attention(q: Tensor, k: Tensor, v: Tensor, lengths: Tensor) -> Tensor:
    """Attention, not causal, over a right-padded batch.

    q, k, v (B, H, T, D), one float dtype; lengths (B,) int64, 0 <= length <= T: the keys at or
    past the length are hidden from every query, and padded queries are computed like any other.
    Returns (B, H, T, D); zeros where the length is 0.
    """
    positions = torch.arange(k.shape[-2], device=k.device)  # (T,)
    is_token = positions < lengths[:, None]  # (B, T)
    return attention(q, k, v, is_token[:, None, None, :])  # (B, H, T, D)
