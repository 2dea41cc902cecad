"""Causal attention over a sliding window.

Source: Beltagy et al., "Longformer" (2020), section 3.1, made causal as in Jiang et al.,
"Mistral 7B" (2023), section 2; here the window counts the query's own position.
"""

from __future__ import annotations

import torch
from torch import Tensor

from reference.attention import attention


def sliding_window_attention(q: Tensor, k: Tensor, v: Tensor, window: int) -> Tensor:
    """Position i attends to itself and to the `window - 1` positions before it.

    q, k, v (B, H, T, D), one float dtype; window >= 1, and may exceed T. Returns (B, H, T, D).
    """
    place = torch.arange(q.shape[-2], device=q.device)  # (T,)
    distance = place[:, None] - place  # (T, T), query less key
    return attention(q, k, v, (distance >= 0) & (distance < window))  # (B, H, T, D)
